"""Puts a finished run of another tool into the store: everything in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from equipoise.core.values import Event, Row
from equipoise.store import tables
from equipoise.store.records import Ending, NewRun, now
from equipoise.store.transact import Store, writing
from equipoise.store.write import event_row, place_of_process

PIECE = 20_000
"""Rows written at a time."""


@dataclass(frozen=True)
class ImportedEnding:
    """How and when an imported run ended, and its last step."""

    status: Ending
    last_step: int
    created: str | None = None
    finished: str | None = None


def import_run(store: Store, run: NewRun, end: ImportedEnding, rows: Iterable[Row], events: Iterable[Event]) -> None:
    """Record the run. Its last step has a checkpoint without files: nothing can go on from there."""
    time = now()
    row = {**asdict(run), "environment": place_of_process(run.environment), "status": end.status, "updated": time}
    moments = {"created": end.created or time, "finished": end.finished or time}
    numbers = ({"run_id": run.run_id, **asdict(each)} for each in rows)
    with writing(store) as connection:
        connection.execute(tables.runs.insert().values(**row, **moments))
        for piece in _pieces(numbers):
            connection.execute(tables.metrics.insert(), piece)
        connection.execute(tables.events.insert(), [event_row(run.run_id, event, event.step) for event in events])
        checkpoint = {"run_id": run.run_id, "step": end.last_step, "manifest": {}, "time": moments["finished"]}
        connection.execute(tables.checkpoints.insert().values(**checkpoint))


def _pieces(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while piece := list(islice(rows, PIECE)):
        yield piece
