from __future__ import annotations

import numpy as np

from equipoise.diagnose.noise import coarse, jitter, smooth
from equipoise.diagnose.recording import SERVER, recording
from tests.unit.diagnose.runs import curve, run_of


def test_rows_in_any_order_become_curves_in_the_order_of_steps() -> None:
    names, which = ["lam", "loss"], np.array([1, 0, 0, 0])
    clients, steps = np.array([SERVER, 2, 2, 1]), np.array([0, 5, 3, 0])
    run = recording("r", names, which, clients, steps, np.array([9.0, 7.0, 6.0, 5.0]))
    assert [c.client for c in run.clients("lam")] == [1, 2]
    assert run.of("lam", 2).steps.tolist() == [3, 5]
    assert run.of("lam", 2).values.tolist() == [6.0, 7.0]
    assert run.server("loss").values.tolist() == [9.0]
    assert run.last == 5


def test_no_rows_are_no_curves() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert recording("r", [], empty, empty, empty, np.empty(0)).curves == {}


def test_the_mean_is_over_those_who_were_there() -> None:
    run = run_of({"lam": {0: [1.0, 3.0], 1: [3.0]}})
    assert run.mean("lam").values.tolist() == [2.0, 3.0]


def test_until_is_the_run_as_it_was_known_then() -> None:
    run = run_of({"lam": [1.0, 2.0, 3.0]}).until(1)
    assert run.of("lam", 0).values.tolist() == [1.0, 2.0]
    assert run.of("lam", 0).at(9) == 2.0
    assert np.isnan(run.of("lam", 0).at(-1))


def test_needs_are_names_patterns_facts_and_either() -> None:
    run = run_of({"loss/cls": [1.0]}, classes=10)
    lacking = [
        need for need in ("loss/*", "fact:classes", "lam|loss/cls", "lam", "fact:x", "reference") if run.lacks(need)
    ]
    assert lacking == ["lam", "fact:x", "reference"]


def test_jitter_of_independent_noise_is_its_deviation_and_a_trend_has_none() -> None:
    noise = np.random.default_rng(0).normal(0, 0.03, 4000)
    assert abs(jitter(noise) - 0.03) < 0.002
    assert abs(jitter(noise + np.linspace(0, 9, 4000)) - 0.03) < 0.002
    assert jitter(np.array([1.0, 2.0])) == 0


def test_smooth_and_coarse() -> None:
    assert smooth(np.array([1.0, 3.0, 5.0]), 2).tolist() == [2.0, 4.0]
    assert smooth(np.array([1.0]), 3).tolist() == [1.0]
    assert coarse(curve([1.0, 3.0, 5.0, 7.0], 0), 2).values.tolist() == [2.0, 6.0]
    assert coarse(curve([1.0, 3.0, 5.0, 7.0], 0), 2).steps.tolist() == [1, 3]
