"""Runs in a store for the tests of trackers, and a tracker that is a list: it can fail and it can hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from equipoise.core.values import Row
from equipoise.store import read, write
from equipoise.store.database import Store, open_store
from equipoise.track.feed import Route
from equipoise.track.points import Point
from equipoise.track.sink import OpenedRun, TrackedRun
from tests.unit.store.conftest import a_run

RUN = "fedavg-000001"


class ListSink:
    """Keeps what it is sent. While `is_away` it raises; while `gate` is closed it hangs."""

    name, place = "list", "here"

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.opened: list[str | None] = []
        self.closed: list[str] = []
        self.is_away = False
        self.gate = threading.Event()
        self.gate.set()

    def open(self, run: TrackedRun, known: str | None) -> OpenedRun:
        self._answer()
        self.opened.append(known)
        return OpenedRun(known or f"{run.run_id}-there", known is None)

    def send(self, points: Sequence[Point]) -> None:
        self._answer()
        self.points += points

    def close(self, status: str) -> None:
        self._answer()
        self.closed.append(status)

    def _answer(self) -> None:
        self.gate.wait(60)
        if self.is_away:
            raise ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "equipoise.db") as opened:
        write.create_run(opened, a_run())
        yield opened


@pytest.fixture
def sink() -> ListSink:
    return ListSink()


@pytest.fixture
def route(store: Store, sink: ListSink) -> Route:
    return Route(store, TrackedRun(RUN, "fedavg", "0.1.0", {}), 20, sink)


def commit(store: Store, step: int, clients: int = 2) -> None:
    """A checkpoint: the server's accuracy step/10, client k's loss k + step/10."""
    rows = [Row(step, step, None, "accuracy", step / 10)]
    rows += [Row(step, step, client, "loss", client + step / 10) for client in range(clients)]
    write.commit_step(store, RUN, step, rows, [], {})


def points(*steps: int, clients: int = 2) -> list[Point]:
    """What a tracker should have of these checkpoints."""
    return [
        point
        for step in steps
        for point in (
            Point(step, "accuracy", step / 10),
            *(Point(step, f"client_{client}/loss", client + step / 10) for client in range(clients)),
        )
    ]


def kinds(store: Store) -> list[str]:
    return [seen.event.kind for seen in read.events(store, RUN)]


def eventually(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)
