"""One line per run: what it has reached, and how sure that is."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest

from equipoise.dashboard.listing import lines, wilson
from equipoise.dashboard.view import Dashboard
from equipoise.store import read, write
from tests.unit.store.conftest import a_run


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 60), (60, 60), (1, 60), (59, 60), (45, 60), (5000, 10000)])
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 60, 997, 10000, 1234567])
def test_an_interval_of_a_share_is_within_0_and_1_and_holds_the_share(n: int) -> None:
    for hits in {0, 1, n // 2, n - 1, n}:
        low, high = wilson(hits / n, n)
        assert 0 <= low <= hits / n <= high <= 1


def test_a_line_says_what_the_store_says(shared: Dashboard, done: list[str]) -> None:
    run = read.find_run(shared.store, done[0])
    [line] = lines(shared.store, [run], {run.run_id: {"step": 1}})
    final = read.final_metrics(shared.store, run.run_id)
    assert (line.run_id, line.status, line.method, line.seed) == (run.run_id, "done", "fedavg", 0)
    assert (line.done, line.planned, line.now) == (2, 2, {"step": 1})
    assert (line.metric, line.value) == ("accuracy/merged", final["accuracy/merged"])
    tested = run.environment["tested"]
    expected = binomtest(round(line.value * tested), tested).proportion_ci(0.95, method="wilson")
    assert (line.low, line.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_many_runs_are_each_their_own_line_in_the_given_order(shared: Dashboard, done: list[str]) -> None:
    runs = [read.find_run(shared.store, run_id) for run_id in (*done, *reversed(done))]
    assert [line.run_id for line in lines(shared.store, runs, {})] == [run.run_id for run in runs]
    assert lines(shared.store, [], {}) == []


def test_a_run_without_a_checkpoint_has_reached_nothing(board: Dashboard) -> None:
    write.create_run(board.store, a_run())
    [line] = lines(board.store, read.runs(board.store), {})
    assert (line.done, line.planned, line.value, line.low, line.high, line.severity) == (0, 3, None, None, None, "")
    assert line.status == "killed"  # nobody works on it


def test_the_worst_finding_is_the_one_that_a_list_shows(board: Dashboard) -> None:
    write.create_run(board.store, a_run())
    found = [{"code": code, "severity": code} for code in ("note", "error", "warning")]
    write.set_findings(board.store, "fedavg-000001", found)
    [line] = lines(board.store, read.runs(board.store), {})
    assert line.severity == "error"


def test_a_headline_that_is_not_a_number_has_no_interval(board: Dashboard) -> None:
    from equipoise.core.values import Row

    about = {"headline": "accuracy/merged", "environment": {"tested": 60}}
    write.create_run(board.store, a_run(**about))
    write.commit_step(board.store, "fedavg-000001", 0, [Row(0, 0, None, "accuracy/merged", math.nan)], [], {})
    [line] = lines(board.store, read.runs(board.store), {})
    assert line.value is None or math.isnan(line.value)
    assert (line.low, line.high) == (None, None)
