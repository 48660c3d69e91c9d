from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.client.trace import READ_EVERY, Columns, Trace, numbers
from equipoise.core.device import Device
from equipoise.core.values import Losses, Weighed


def losses(*align: float) -> Losses:
    """Of two clients."""
    parts = {"cls": torch.tensor([0.5, 1.0]), "aux": torch.tensor([0.25, 0.0])}
    term = torch.tensor(align) if align else None
    return Losses(torch.tensor([0.75, 1.0]), term, parts, torch.tensor([0.5, 0.25]))


def plain(rows: Columns) -> dict[str, list[float]]:
    return {name: row.tolist() for name, row in rows.items()}


NORMS, FACTORS = torch.tensor([2.0, 4.0]), torch.tensor([0.5, 1.0])


def test_one_step_without_alignment():
    assert plain(numbers(losses(), [], NORMS, FACTORS)) == {
        "loss/base": [0.75, 1.0],
        "loss/cls": [0.5, 1.0],
        "loss/aux": [0.25, 0.0],
        "accuracy/train": [0.5, 0.25],
        "grad/norm": [2.0, 4.0],
        "grad/clip": [0.5, 1.0],
    }


def test_with_alignment_the_numbers_that_were_used_are_written_down():
    weighed = [Weighed(torch.tensor(1.0), None, lam=lam, schedule=0.5, used=lam / 2, scale=0.75) for lam in (3.0, 5.0)]
    step = plain(numbers(losses(4.0, 6.0), weighed, NORMS, FACTORS))
    names = ("loss/align", "lam", "schedule", "lam/used", "scale/base")
    assert [step[name] for name in names] == [[4.0, 6.0], [3.0, 5.0], [0.5, 0.5], [1.5, 2.5], [0.75, 0.75]]


def test_what_a_policy_saw_beside_lam_is_written_down():
    weighed = [Weighed(torch.tensor(1.0), None, lam=3.0, seen={"sigma2/base": value}) for value in (0.5, 0.25)]
    assert plain(numbers(losses(4.0, 6.0), weighed, NORMS, FACTORS))["sigma2/base"] == [0.5, 0.25]


def settled(trace: Trace) -> Trace:
    trace.settle(trace.unread())
    return trace


def row(**values: float) -> Columns:
    return {name: np.array([value]) for name, value in values.items()}


def test_means_over_the_steps():
    trace = Trace(1, Device())
    for value in (1.0, 2.0, 6.0):
        trace.step(row(loss=value, norm=10 * value))
    assert settled(trace).means() == [{"loss": (1 + 2 + 6) / 3, "norm": (10 + 20 + 60) / 3, "steps": 3}]
    assert trace.steps.tolist() == [3]
    assert trace.last(0) == {"loss": 6.0, "norm": 60.0}


def test_whoever_is_done_earlier_has_the_means_of_its_own_steps():
    trace = Trace(3, Device())
    for columns in ([1.0, 2.0, 3.0], [3.0, 4.0], [8.0]):
        trace.step({"loss": np.array(columns)})
    assert trace.steps.tolist() == [3, 2, 1]
    assert [means["loss"] for means in settled(trace).means()] == [4.0, 3.0, 3.0]
    assert [trace.last(client)["loss"] for client in range(3)] == [8.0, 4.0, 3.0]


def test_a_number_of_some_steps_and_clients_is_the_mean_of_those():
    trace = Trace(2, Device())
    for loss, cosine, who in ((1.0, 0.5, [0]), (2.0, 0.0, []), (3.0, -0.25, [0])):
        trace.step({"loss": np.array([loss, loss])})
        trace.add({"grad/cosine": np.full(len(who), cosine)}, np.array(who, dtype=int))
    first, second = settled(trace).means()
    assert first == {"loss": 2.0, "grad/cosine": (0.5 - 0.25) / 2, "steps": 3}
    assert second == {"loss": 2.0, "steps": 3}


def test_steps_with_other_terms_count_in_the_means_of_those_they_share():
    trace = Trace(1, Device())
    for rows in (row(base=1.0, con=1.0), row(base=2.0, con=1.0, cls=1.0), row(base=6.0, con=4.0)):
        trace.step(rows)
    assert settled(trace).means() == [{"base": 3.0, "con": 2.0, "cls": 1.0, "steps": 3}]
    assert trace.last(0) == {"base": 6.0, "con": 4.0, "cls": 1.0}


def test_of_lam_the_last_step_is_kept_beside_the_mean():
    trace = Trace(1, Device())
    for lam in (1.0, 5.0):
        numbers = {"lam": lam, "schedule": 1 / lam, "lam/used": 2 * lam, "scale/base": 1.0, "loss/base": lam}
        trace.step({name: np.array([value]) for name, value in numbers.items()})
    (means,) = settled(trace).means()
    assert (means["lam"], means["lam/last"]) == (3.0, 5.0)
    assert (means["lam/used"], means["lam/used/last"]) == (6.0, 10.0)
    assert (means["schedule/last"], means["scale/base/last"]) == (pytest.approx(0.2), 1.0)
    assert "loss/base/last" not in means


def test_a_client_that_took_no_step_has_no_means():
    assert settled(Trace(1, Device())).means() == [{"steps": 0}]


def test_numbers_may_be_tensors_or_floats_and_are_read_in_the_order_in_which_they_came():
    """More steps than are read at once: what is recorded does not depend on when it is read."""
    trace, values = Trace(2, Device()), np.random.default_rng(0).normal(size=(3 * READ_EVERY + 5, 2))
    single = values.astype(np.float32)
    for step, value in enumerate(values):
        columns = {"loss": torch.from_numpy(single[step]), "lam": torch.from_numpy(value), "schedule": value / 2}
        trace.step(columns if step % 3 else dict(reversed(columns.items())))
    sums = {"loss": np.zeros(2), "lam": np.zeros(2), "schedule": np.zeros(2)}
    for step, value in enumerate(values):
        sums["loss"] += single[step]
        sums["lam"] += value
        sums["schedule"] += value / 2
    for client, means in enumerate(settled(trace).means()):
        assert {name: means[name] for name in sums} == {name: sums[name][client] / len(values) for name in sums}
        assert means["lam/last"] == values[-1, client]


@pytest.mark.parametrize("bad", [0, 1, READ_EVERY - 1, READ_EVERY, READ_EVERY + 7])
def test_the_first_number_that_is_not_finite_is_named_with_its_step_and_what_came_before(bad: int):
    trace = Trace(2, Device())
    for step in range(READ_EVERY + 9):
        is_bad = step in (bad, bad + 1)
        trace.step({"a": torch.tensor([step, step]), "b": torch.tensor([1.0, torch.inf if is_bad else 2.0])})
    settled(trace)
    assert trace.not_finite.keys() == {1}
    found = trace.not_finite[1]
    assert (found.name, found.value, found.step) == ("b", float("inf"), bad)
    assert found.before == ({"a": bad - 1, "b": 2.0} if bad else {})
