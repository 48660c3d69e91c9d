"""What passes between a run and those who watch it."""

from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError
from equipoise.store.locks import hold
from equipoise.store.transact import Store
from equipoise.store.watching import all_progress, end_progress, request, requested, set_progress, take_requests
from equipoise.store.write import finish


def test_progress_is_one_row_per_run(store: Store, run_id: str) -> None:
    set_progress(store, run_id, {"step": 1})
    set_progress(store, run_id, {"step": 2})
    [(run, said)] = all_progress(store).items()
    assert (run, said["step"]) == (run_id, 2)
    assert said["time"]


def test_a_request_is_taken_once(store: Store, run_id: str) -> None:
    with hold(store, run_id):
        request(store, run_id, "stop")
        request(store, run_id, "stop")
    assert requested(store, run_id) == ["stop"]
    assert take_requests(store, run_id) == ["stop"]
    assert take_requests(store, run_id) == []


def test_a_run_that_ended_leaves_neither_progress_nor_requests(store: Store, run_id: str) -> None:
    set_progress(store, run_id, {"step": 1})
    with hold(store, run_id):
        request(store, run_id, "stop")
    end_progress(store, run_id)
    assert (all_progress(store), requested(store, run_id)) == ({}, [])


def test_nothing_is_asked_of_a_run_that_is_over(store: Store, run_id: str) -> None:
    finish(store, run_id, "done")
    with pytest.raises(ConfigError, match="is done"):
        request(store, run_id, "stop")
