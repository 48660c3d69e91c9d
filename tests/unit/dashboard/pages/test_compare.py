"""Runs side by side: what differs first."""

from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError, NoSuchRun
from equipoise.core.values import Row
from equipoise.dashboard.pages.compare import MOST_RUNS, compare_page
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.store import read, write
from tests.unit.dashboard.conftest import written_run
from tests.unit.dashboard.visits import Visits

READER = Visitor("en", False)


def test_the_settings_that_differ_are_apart_from_those_that_do_not(shared: Dashboard, done: list[str]) -> None:
    page = compare_page(shared, done, READER)
    assert [line.run_id for line in page.runs] == done
    differing = {each.key: each.values for each in page.differing}
    assert differing["method.name"] == ["fedavg", "etf-align"]
    assert differing["seed"] == ["0", "1"]
    assert "rounds" not in differing
    assert page.n_shared > 10
    assert all(len(set(each.values)) > 1 for each in page.differing)


def test_the_headline_is_first_and_spreads_are_largest_minus_smallest(shared: Dashboard, done: list[str]) -> None:
    page = compare_page(shared, done, READER)
    finals = [read.final_metrics(shared.store, run_id) for run_id in done]
    assert page.numbers[0].name == "accuracy/merged"
    for row in page.numbers:
        assert row.values == [final.get(row.name) for final in finals]
        if None not in row.values:
            assert row.spread == max(row.values) - min(row.values)
        else:
            assert row.spread is None
    weights = [
        (row.spread or 0) / (max(map(abs, filter(None, row.values)), default=0) or 1) for row in page.numbers[1:]
    ]
    assert weights == sorted(weights, reverse=True)


def test_numbers_that_are_not_finite_are_none(board: Dashboard) -> None:
    for run_id, value in (("a-1", float("nan")), ("a-2", float("inf")), ("a-3", 0.5)):
        written_run(board.store, run_id)
        write.commit_step(board.store, run_id, 0, [Row(0, 0, None, "accuracy/merged", value)], [], {})
    page = compare_page(board, ["a-1", "a-2", "a-3"], READER)
    assert (page.numbers[0].values, page.numbers[0].spread) == ([None, None, 0.5], None)


def test_findings_stand_side_by_side(board: Dashboard) -> None:
    for run_id, codes in (("a-1", ("x", "y")), ("a-2", ("y",))):
        written_run(board.store, run_id)
        write.set_findings(board.store, run_id, [{"code": code, "severity": "error"} for code in codes])
    found = compare_page(board, ["a-1", "a-2"], READER).findings
    assert found == [{"code": "x", "a-1": "error"}, {"code": "y", "a-1": "error", "a-2": "error"}]


def test_two_to_twelve_different_runs_can_be_compared(board: Dashboard) -> None:
    ids = [written_run(board.store, f"a-{number:02}") for number in range(MOST_RUNS + 1)]
    for wrong in ([ids[0]], [ids[0], ids[0]], ids, []):
        with pytest.raises(ConfigError, match="2 to 12"):
            compare_page(board, wrong, READER)
    assert len(compare_page(board, ids[1:], READER).runs) == MOST_RUNS
    with pytest.raises(NoSuchRun):
        compare_page(board, [ids[0], "nothing"], READER)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_both_runs_and_their_curves(visitors: Visits, done: list[str], language: str) -> None:
    text = visitors.stranger.get(f"/compare?run={done[0]}&run={done[1]}&lang={language}").text
    for run_id in done:
        assert f'href="/runs/{run_id}"' in text
    assert "method.name" in text
    assert 'class="chart"' in text
