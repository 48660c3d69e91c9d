"""One sweep while it goes on: a row per configuration, a cell per seed."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest

from equipoise.core.errors import NoSuchRun
from equipoise.core.values import Row
from equipoise.dashboard.pages.sweep import sweep_page
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.report.comparison import compare
from equipoise.report.layout import results
from equipoise.report.runs import compared
from equipoise.store import read, write
from equipoise.store.locks import hold
from equipoise.store.searches import begin_search
from tests.unit.dashboard.conftest import SWEEP, written_run
from tests.unit.dashboard.visits import Visits, until

READER = Visitor("en", False)


def cell(board: Dashboard, run_id: str, label: str, seed: int, value: float | None) -> None:
    written_run(board.store, run_id, sweep="s", cell=label, seed=seed)
    if value is not None:
        write.commit_step(board.store, run_id, 0, [Row(0, 0, None, "accuracy/merged", value)], [], {})
        write.finish(board.store, run_id, "done")


def test_rows_are_configurations_and_means_are_of_what_is_done(board: Dashboard) -> None:
    cell(board, "a-1", "first", 2, 0.5)
    cell(board, "b-1", "second", 1, 0.25)
    cell(board, "a-2", "first", 1, 0.75)
    cell(board, "a-3", "first", 3, float("nan"))
    cell(board, "a-4", "first", 4, None)
    with hold(board.store, "a-4"):
        page = sweep_page(board, "s", READER)
    first, second = page.rows
    assert [(row.label, [run.seed for run in row.runs]) for row in page.rows] == [
        ("first", [1, 2, 3, 4]),
        ("second", [1]),
    ]
    assert (first.n_done, first.mean, first.std) == (2, fmean([0.5, 0.75]), stdev([0.5, 0.75]))
    assert (second.n_done, second.mean, second.std) == (1, 0.25, None)
    assert page.counts == {"done": 4, "running": 1}


def test_a_sweep_that_is_not_there_is_refused_with_its_name(shared: Dashboard) -> None:
    with pytest.raises(NoSuchRun, match="there is no sweep 'nothing'"):
        sweep_page(shared, "nothing", READER)


def test_labels_are_those_of_the_table(shared: Dashboard, done: list[str]) -> None:
    page = sweep_page(shared, SWEEP, READER)
    assert [(row.label, [run.run_id for run in row.runs]) for row in page.rows] == [
        ("plain", [done[0]]),
        ("aligned", [done[1]]),
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_comparison_is_the_reports(shared: Dashboard, done: list[str], language: str) -> None:
    found = until(lambda: sweep_page(shared, SWEEP, Visitor(language, False)).comparison)
    runs = [read.find_run(shared.store, run_id) for run_id in done]
    labels = dict(zip(done, ("plain", "aligned"), strict=True))
    expected = results(compare(compared(shared.store, runs, labels), language))
    assert found.rows == [[each.text for each in row] for row in expected.rows]
    assert len(found.columns) == len(found.rows[0])


def test_the_page_links_every_cell(visitors: Visits, done: list[str]) -> None:
    text = visitors.stranger.get(f"/sweeps/{SWEEP}").text
    for run_id in done:
        assert f'href="/runs/{run_id}"' in text
    assert "plain" in text


def test_trials_of_a_search_show_validation_and_the_chosen_one_alone_is_compared(board: Dashboard) -> None:
    begin_search(board.store, "s", {"space": {}})
    for run_id, label, test, validation in (("t-1", "trial 0", 0.9, 0.5), ("t-2", "trial 1", 0.1, 0.75)):
        written_run(board.store, run_id, sweep="s", cell=label, seed=0)
        rows = [Row(0, 0, None, "accuracy/merged", test), Row(0, 0, None, "accuracy/validation", validation)]
        write.commit_step(board.store, run_id, 0, rows, [], {})
        write.finish(board.store, run_id, "done")
    write.set_members(board.store, "s", [("trial 1", "t-2")])
    page = sweep_page(board, "s", READER)
    assert page.is_search
    assert [(row.label, row.mean) for row in page.rows] == [("trial 0", 0.5), ("trial 1", 0.75)]
    table = until(lambda: sweep_page(board, "s", READER).comparison)
    assert [row[0] for row in table.rows] == ["trial 1"]
