"""What changed in the store since one last looked: runs that moved on, and the progress of those that go on.

SQLite tells by `PRAGMA data_version` whether anybody wrote at all; only then are rows read. PostgreSQL is asked for the
newest time of a run each time. A killed run changes nothing in the store, so runs that go on are looked after, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from equipoise.store import tables
from equipoise.store.read import runs
from equipoise.store.transact import Store, reading
from equipoise.store.watching import all_progress

NAMED = 40
"""Clients that are named; more are counted."""
ALIVE_EVERY = 5.0
"""Seconds between two looks at whether running runs still have a process."""


@dataclass
class Changes:
    """`now` is how the runs that go on stand."""

    store: Store
    now: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._connection: Connection | None = None
        self._data: object = None
        self._seen: dict[str, tuple[str, str]] = {}
        self._looked_after = 0.0

    def look(self) -> set[str]:
        """The runs that changed."""
        has_written, is_time = self._somebody_wrote(), time.monotonic() - self._looked_after > ALIVE_EVERY
        if not has_written and not (is_time and self.now):
            return set()
        if is_time:
            self._looked_after = time.monotonic()
        return self._compare()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _compare(self) -> set[str]:
        running = {run.run_id for run in runs(self.store, status="running")}
        with reading(self.store) as connection:
            table = tables.runs.c
            rows = connection.execute(select(table.run_id, table.updated, table.status)).all()
        seen = {
            run_id: (updated, "killed" if status == "running" and run_id not in running else status)
            for run_id, updated, status in rows
        }
        changed = {run_id for run_id in seen.keys() | self._seen.keys() if seen.get(run_id) != self._seen.get(run_id)}
        self._seen = seen
        told = all_progress(self.store)
        self.now = {run_id: told.get(run_id, {}) for run_id in running}
        return changed

    def _somebody_wrote(self) -> bool:
        if self.store.reader.dialect.name != "sqlite":
            return True
        if self._connection is None:  # the counter is a connection's own, so one is kept
            self._connection = self.store.reader.connect().execution_options(isolation_level="AUTOCOMMIT")
        data = self._connection.exec_driver_sql("PRAGMA data_version").scalar()
        self._connection.commit()
        before, self._data = self._data, data
        return data != before


def said(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run's progress as open pages are told it; the clients are named where they are few."""
    kept = {key: row[key] for key in ("step", "steps", "share", "seconds", "left", "is_late", "time") if key in row}
    for who in ("training", "answered", "failed", "stopped"):
        if who in row:
            kept[who] = row[who] if row[who]["n"] <= NAMED else {"n": row[who]["n"]}
    return kept
