"""A store in a file of its own, and engines and watchers that go wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from equipoise.core.values import ClientFailure, Event, Result, Task
from equipoise.engine.local import Local
from equipoise.kind.site import Site
from equipoise.run import cell_processes
from equipoise.run.state import Record
from equipoise.run.watch import Nobody
from equipoise.store.database import Store, open_store
from tests.commands import CellHere


@pytest.fixture
def location(tmp_path) -> str:
    return str(tmp_path / "equipoise.db")


@pytest.fixture
def store(location) -> Iterator[Store]:
    with open_store(location, patience=60) as opened:
        yield opened


@pytest.fixture
def cells_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells of a sweep are run by threads of this process."""
    monkeypatch.setattr(cell_processes, "Child", CellHere)


def rows_of(record: Record, name: str) -> dict[int | None, float]:
    """Client, or None for the server, → the number of that name."""
    return {row.client: row.value for row in record.rows if row.name == name}


class Meddling:
    """The local engine with results of training replaced: {(step, client): what comes instead of the result}."""

    def __init__(self, site: Site, instead: Mapping[tuple[int, int], Callable[[Result], Result]]) -> None:
        self.local, self.instead = Local(site), instead
        self.asked: list[tuple[int, int]] = []
        self.happened: list[Event] = []

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        for task, result in zip(tasks, self.local.map(tasks), strict=True):
            if task.question is not None:
                yield result
                continue
            self.asked.append((task.step, task.client))
            change = self.instead.get((task.step, task.client))
            yield result if change is None else change(result)

    def take_events(self) -> list[Event]:
        taken, self.happened = self.happened, []
        return taken

    def close(self) -> None:
        pass


def not_finite(result: Result) -> ClientFailure:
    return ClientFailure(result.client, "non-finite", "loss/base is nan")


class Breaks(Nobody):
    """Somebody who watches and raises: after a checkpoint, or when a client has answered."""

    def __init__(self, error: BaseException, step: int, at: str = "checkpoint") -> None:
        self.error, self.step, self.at = error, step, at
        self.ended = False
        self.notes: list[str] = []

    def tick(self, step, done, total, result) -> None:
        if (self.at, step) == ("tick", self.step):
            raise self.error

    def checkpoint(self, record) -> None:
        if (self.at, record.step) == ("checkpoint", self.step):
            raise self.error

    def note(self, text: str) -> None:
        self.notes.append(text)

    def end(self) -> None:
        self.ended = True
