"""The findings of a run: those of its end, or those of the live rules so far."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from equipoise.core.values import Row
from equipoise.dashboard.verdicts import Examined
from equipoise.dashboard.view import Dashboard
from equipoise.diagnose.examine import examine, live
from equipoise.diagnose.finding import SEVERITIES
from equipoise.diagnose.stored import stored
from equipoise.store import read, write
from equipoise.store.locks import hold
from equipoise.store.metrics import last_step

from .conftest import run_of
from .visits import until


def complete(board: Dashboard, run_id: str, language: str = "en") -> Examined:
    run, last = read.find_run(board.store, run_id), last_step(board.store, run_id)
    known = until(lambda: (found := board.verdicts.of(run, last, language)).is_complete and found)
    assert known.step in {None, last} or run.status == "running"
    return known


@pytest.fixture
def skewed(board: Dashboard) -> str:
    """A run whose clients hardly share a class: live rules find an outlier."""
    run_id = run_of(board.store, "partition.alpha=0.05", "client.epochs=5", "client.lr=0.5", "rounds=8")
    assert read.findings(board.store, run_id)
    return run_id


def as_going_on(board: Dashboard, run_id: str, stack: ExitStack) -> None:
    """The same run, as if its process had just written its newest checkpoint."""
    stack.enter_context(hold(board.store, run_id))
    write.set_findings(board.store, run_id, [])
    write.restart(board.store, run_id, read.find_run(board.store, run_id).environment)


def test_a_run_that_is_over_has_the_findings_of_its_end(board: Dashboard, skewed: str) -> None:
    found = complete(board, skewed)
    assert [each.to_json() for each in found.findings] == read.findings(board.store, skewed)
    assert found.step is None


def test_in_chinese_they_are_the_same_findings(board: Dashboard, skewed: str) -> None:
    run = read.find_run(board.store, skewed)
    expected = examine(stored(board.store, run), run.config.get("limits"), "zh").findings
    found = complete(board, skewed, "zh").findings
    assert [(each.code, each.saw) for each in found] == [(each.code, each.saw) for each in expected]
    assert [each.code for each in found] == [each.code for each in complete(board, skewed).findings]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_while_it_goes_on_they_are_those_of_the_live_rules(board: Dashboard, skewed: str, language: str) -> None:
    run = read.find_run(board.store, skewed)
    expected = live(stored(board.store, run), run.config.get("limits"), language)
    assert expected
    with ExitStack() as stack:
        as_going_on(board, skewed, stack)
        assert read.find_run(board.store, skewed).status == "running"
        found = complete(board, skewed, language)
    assert [each.to_json() for each in found.findings] == [each.to_json() for each in expected]
    assert found.step == 7
    ranks = [SEVERITIES.index(each.severity) for each in found.findings]
    assert ranks[0] == max(ranks)


def test_new_checkpoints_are_examined_with_what_was_read_before(board: Dashboard, skewed: str) -> None:
    run = read.find_run(board.store, skewed)
    every = read.rows(board.store, skewed)
    with ExitStack() as stack:
        as_going_on(board, skewed, stack)
        write.rewind(board.store, skewed, 1)
        complete(board, skewed)
        for step in range(2, 8):
            write.commit_step(board.store, skewed, step, [row for row in every if row.step == step], [], {})
        fresh = live(stored(board.store, run), run.config.get("limits"))
        found = until(lambda: (seen := complete(board, skewed)).step == 7 and seen)
    assert [each.code for each in found.findings] == [each.code for each in fresh]


def test_a_run_that_was_taken_back_is_examined_anew(board: Dashboard, skewed: str) -> None:
    with ExitStack() as stack:
        as_going_on(board, skewed, stack)
        complete(board, skewed)
        write.rewind(board.store, skewed, 0)
        healthy = [Row(1, 1, None, "accuracy/merged", 0.5)]
        write.commit_step(board.store, skewed, 1, healthy, [], {})
        until(lambda: complete(board, skewed).step == 1)
        run = read.find_run(board.store, skewed)
        expected = live(stored(board.store, run), run.config.get("limits"))
        assert [each.code for each in complete(board, skewed).findings] == [each.code for each in expected]


def test_a_page_does_not_wait_for_an_examination(board: Dashboard, skewed: str) -> None:
    with ExitStack() as stack:
        as_going_on(board, skewed, stack)
        run = read.find_run(board.store, skewed)
        assert board.verdicts.of(run, 7, "en") == Examined(is_complete=False)
        complete(board, skewed)
