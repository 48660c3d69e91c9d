"""One run of a trial: ended early once, by its own trial, wherever it was killed."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.config.loader import Request
from equipoise.run.cell import run_cell
from equipoise.run.search.trial_run import pruned_at
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.database import Store
from tests.conftest import tiny
from tests.unit.run.conftest import Breaks

CONFIG = tiny("rounds=4")
HOPELESS = [[[step, 2.0] for step in range(4)]] * 5
"""Five rivals with accuracies that nobody reaches."""


@pytest.fixture
def order(location: str, store: Store) -> dict[str, Any]:
    about = {"store": location, "sweep": "a search", "cell": "trial 7", "config": CONFIG.model_dump()}
    return {**about, "run_id": None, "data_path": None, "trial": {"number": 7, "rivals": HOPELESS}}


def events(store: Store, run_id: str) -> list[str]:
    return [at.event.kind for at in read.events(store, run_id)]


def test_a_hopeless_run_is_stopped_at_its_first_checkpoint(order, store) -> None:
    answer = run_cell(order)
    run = read.find_run(store, answer["run_id"])
    assert (answer["state"], run.status, run.sweep, run.cell) == ("pruned", "stopped", "a search", "trial 7")
    assert [each.step for each in read.checkpoints(store, run.run_id)] == [0]
    assert pruned_at(store, run.run_id, ("a search", 7)) == 0
    assert "below the median of 5 others" in run.error


def test_without_rivals_it_runs_to_its_end_and_says_nothing_of_test(order, store) -> None:
    answer = run_cell({**order, "trial": {"number": 7, "rivals": []}})
    assert answer["state"] == "done"
    assert set(answer) == {"state", "run_id", "error", "seconds"}


def test_a_run_that_is_hopeless_at_its_last_checkpoint_is_whole(order, store) -> None:
    late = [[[3, 2.0]]] * 5
    assert run_cell({**order, "trial": {"number": 7, "rivals": late}})["state"] == "done"


def test_a_pruned_run_is_not_begun_again_by_its_own_trial(order, store) -> None:
    first = run_cell(order)
    again = run_cell({**order, "run_id": first["run_id"]})
    assert (again["state"], again["run_id"]) == ("pruned", first["run_id"])
    assert events(store, first["run_id"]).count("pruned") == 1
    assert "resumed" not in events(store, first["run_id"])


def test_another_trial_and_a_resume_by_hand_go_on_with_it(order, store) -> None:
    run_id = run_cell(order)["run_id"]
    other = run_cell({**order, "run_id": run_id, "trial": {"number": 9, "rivals": []}})
    assert (other["state"], read.find_run(store, run_id).status) == ("done", "done")
    mine = run_cell(order | {"config": tiny("rounds=4", "seed=1").model_dump()})["run_id"]
    resume(store, read.find_run(store, mine), Nobody())
    assert read.find_run(store, mine).status == "done"


def test_a_run_killed_after_its_checkpoint_has_it_decided_when_it_goes_on(order, store) -> None:
    """Between the commit of a checkpoint and the decision there: no round more is trained."""
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(CONFIG, None), Breaks(KeyboardInterrupt(), 0))
    run_id = read.find_run(store, "latest").run_id
    assert run_cell({**order, "run_id": run_id})["state"] == "pruned"
    assert [each.step for each in read.checkpoints(store, run_id)] == [0]


def test_a_run_that_fails_says_why(order) -> None:
    answer = run_cell({**order, "config": tiny("client.lr=1e30").model_dump(), "trial": {"number": 1, "rivals": []}})
    assert answer["state"] == "failed"
    assert "no client gave an update" in answer["error"]
    assert answer["run_id"] is not None
