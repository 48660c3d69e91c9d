from __future__ import annotations

from dataclasses import replace

import pytest

from equipoise.core.errors import StoreError
from equipoise.store.database import Store
from equipoise.store.searches import (
    TrialRecord,
    begin_search,
    best_trial,
    find_search,
    put_trial,
    search_of,
    set_importance,
    trials,
)

PLAN = {"space": {"client.lr": {"low": 0.1, "high": 1.0}}, "seeds": [0], "window": 2}


def test_a_search_begins_once_and_keeps_its_plan(store: Store) -> None:
    first = begin_search(store, "mine", PLAN)
    assert begin_search(store, "mine", {**PLAN, "window": 9}) == first == find_search(store, "mine")
    assert first.plan == PLAN
    set_importance(store, "mine", {"client.lr": 1.0})
    assert find_search(store, "mine").importance == {"client.lr": 1.0}


def test_a_trial_is_written_anew_and_read_as_it_was(store: Store) -> None:
    begin_search(store, "mine", PLAN)
    begin_search(store, "other", PLAN)
    begun = TrialRecord(0, {"client.lr": 0.1 + 0.2, "method.name": {"name": "fedprox", "mu": 0.1}})
    put_trial(store, "mine", begun)
    assert trials(store, "mine") == [begun]
    ended = replace(begun, state="done", score=1 / 3, seconds=2.5, runs=("a", "b"))
    put_trial(store, "mine", replace(begun, number=1))
    put_trial(store, "mine", ended)
    assert trials(store, "mine") == [ended, replace(begun, number=1)]
    assert trials(store, "other") == []


def test_the_search_of_a_run(store: Store) -> None:
    for name, run in (("mine", "a"), ("other", "b")):
        begin_search(store, name, PLAN)
        put_trial(store, name, TrialRecord(0, {}, "done", 0.5, runs=(run,)))
    found = search_of(store, ["b", "c"])
    assert found is not None
    assert found.sweep == "other"
    assert search_of(store, ["c"]) is None


def test_the_best_is_done_and_of_equal_ones_the_first() -> None:
    rows = [("done", 0.5), ("done", 0.7), ("done", 0.7), ("pruned", None), ("failed", None)]
    found = [TrialRecord(i, {}, state, score) for i, (state, score) in enumerate(rows)]
    assert best_trial(found) == found[1]
    assert best_trial(found[3:]) is None


def test_a_search_that_is_not_there_names_those_that_are(store: Store) -> None:
    begin_search(store, "mine", PLAN)
    with pytest.raises(StoreError, match="known: mine"):
        find_search(store, "yours")
