"""What a run says of itself while it goes on, and how it follows requests."""

from __future__ import annotations

import threading

import pytest

from equipoise.config.loader import Request
from equipoise.core.errors import StoppedOnRequest
from equipoise.run import live
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.database import Store, open_store
from equipoise.store.watching import all_progress, request, requested
from tests.conftest import tiny

from .test_session import numbers

CONFIG = tiny("rounds=3", "partition.clients=3")


class Looks(Nobody):
    """At the first answer of step 1: waits until the row of that instant is there, and reads it."""

    def __init__(self, store: Store, asks: bool = False) -> None:
        self.store, self.asks, self.rows, self.written = store, asks, [], threading.Event()

    def begin(self, run_id, federation, first):
        self.run_id = run_id

    def tick(self, step, done, total, result):
        if (step, done) != (1, 1):
            return
        if self.asks:
            request(self.store, self.run_id, "stop")
        self.written.clear()
        assert self.written.wait(20)
        self.rows.append(all_progress(self.store)[self.run_id])


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(live, "EVERY", 0.02)


def watching(monkeypatch, looks: Looks) -> None:
    """Tells the watcher when a row was written and requests were read since it began to wait."""
    take = live.take_requests

    def told(store, run_id):
        found = take(store, run_id)
        row = all_progress(looks.store).get(run_id)
        if row is not None and row["answered"]["n"] == 1:
            looks.written.set()
        return found

    monkeypatch.setattr(live, "take_requests", told)


def test_the_row_names_who_has_answered_and_who_is_training(store, often, monkeypatch):
    looks = Looks(store)
    watching(monkeypatch, looks)
    run_id = start(store, Request(CONFIG, None), looks)
    [row] = looks.rows
    assert (row["step"], row["steps"]) == (1, 3)
    assert row["answered"]["n"] == 1
    assert sorted(row["answered"]["clients"] + row["training"]["clients"]) == [0, 1, 2]
    assert 1 / 3 <= row["share"] <= 1
    assert row["left"] > 0
    assert all_progress(store) == {}, run_id  # it has ended


def test_a_run_that_is_asked_to_stop_ends_at_its_checkpoint_and_resumes_to_the_same_numbers(
    store, often, monkeypatch, tmp_path
):
    looks = Looks(store, asks=True)
    watching(monkeypatch, looks)
    with pytest.raises(StoppedOnRequest, match="after checkpoint 2"):
        start(store, Request(CONFIG, None), looks)
    run = read.find_run(store, "latest")
    assert (run.status, run.error) == ("stopped", None)
    assert read.checkpoints(store, run.run_id)[0].step == 1
    assert "asked from the dashboard" in read.events(store, run.run_id)[-1].event.message
    assert requested(store, run.run_id) == []
    resume(store, run, Nobody())
    with open_store(str(tmp_path / "undisturbed.db")) as other:
        whole = start(other, Request(CONFIG, None), Nobody())
        assert numbers(store, run.run_id) == numbers(other, whole)


def test_a_store_that_cannot_be_written_does_not_harm_the_run(store, often, monkeypatch):
    def broken(*_: object) -> None:
        raise live.StoreError("locked")

    monkeypatch.setattr(live, "set_progress", broken)
    assert read.find_run(store, start(store, Request(CONFIG, None), Nobody())).status == "done"
