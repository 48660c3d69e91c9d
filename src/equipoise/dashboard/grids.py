"""Client × checkpoint numbers of one metric, read column by column and kept, so that a new checkpoint costs one column.

    grid(run, metric, first, last, most)  →  float32 [clients, columns]; NaN where nothing was recorded

A wide range is thinned to evenly spaced checkpoints; a narrower one shows each.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from equipoise.report.figure import thinned
from equipoise.store import tables
from equipoise.store.metrics import last_recorded, recorded_steps
from equipoise.store.transact import Store, reading

Column: TypeAlias = NDArray[np.float32]
LARGEST = 256 * 1024 * 1024
"""Bytes of all columns that are kept."""


@dataclass(frozen=True)
class Grid:
    steps: list[int]
    values: NDArray[np.float32]
    """[clients, steps]"""
    n_steps: int
    """Checkpoints with this metric in the range, before thinning."""


@dataclass
class _Known:
    """What is kept of one metric of one run."""

    steps: list[int] = field(default_factory=list)
    columns: dict[int, Column] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(column.nbytes for column in self.columns.values())


class Grids:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()
        self._lock = threading.Lock()

    def grid(self, run_id: str, metric: str, *, first: int = 0, last: int | None = None, most: int = 128) -> Grid:
        with self._lock:
            known = self._known.setdefault((run_id, metric), _Known())
            self._known.move_to_end((run_id, metric))
            self._see_new_steps(run_id, metric, known)
            there = [step for step in known.steps if first <= step and (last is None or step <= last)]
            steps = [there[i] for i in thinned(len(there), most)] if there else []
            self._read(run_id, metric, known, [step for step in steps if step not in known.columns])
            self._forget()
            columns = [known.columns[step] for step in steps]
        return Grid(steps, _side_by_side(columns), len(there))

    def _see_new_steps(self, run_id: str, metric: str, known: _Known) -> None:
        newest = last_recorded(self.store, run_id, metric)
        if known.steps and (newest is None or newest < known.steps[-1]):  # the run was taken back to a checkpoint
            known.steps.clear()
            known.columns.clear()
        known.steps += recorded_steps(self.store, run_id, metric, after=known.steps[-1] if known.steps else -1)

    def _read(self, run_id: str, metric: str, known: _Known, steps: Sequence[int]) -> None:
        table = tables.metrics.c
        query = select(table.step, table.client, table.value).where(
            table.run_id == run_id, table.name == metric, table.step.in_(steps), table.client.is_not(None)
        )
        if not steps:
            return
        with reading(self.store) as connection:
            statement = query.compile(connection, compile_kwargs={"render_postcompile": True})
            cursor = connection.connection.cursor()
            cursor.execute(str(statement), _parameters(statement))
            rows = np.array(cursor.fetchall(), dtype=np.float64).reshape(-1, 3)  # NULL, which is NaN, becomes NaN
            cursor.close()
        which, clients = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        for step in steps:
            mine = which == step
            column = np.full(int(clients[mine].max(initial=-1)) + 1, np.nan, dtype=np.float32)
            column[clients[mine]] = rows[mine, 2]
            known.columns[step] = column

    def _forget(self) -> None:
        """Drop the metrics that nobody asked for the longest."""
        while len(self._known) > 1 and sum(known.bytes for known in self._known.values()) > LARGEST:
            self._known.popitem(last=False)


def _side_by_side(columns: Sequence[Column]) -> NDArray[np.float32]:
    n_clients = max(map(len, columns), default=0)
    values = np.full((n_clients, len(columns)), np.nan, dtype=np.float32)
    for place, column in enumerate(columns):
        values[: len(column), place] = column
    return values


def _parameters(statement: Any) -> Any:
    """As the driver takes them: by place on SQLite, by name on PostgreSQL."""
    names = getattr(statement, "positiontup", None)
    values = statement.params
    return values if names is None else tuple(values[name] for name in names)
