"""Reads recorded numbers in long form: one row per step, client and name; no client means the server."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, func, select

from equipoise.core.values import Row
from equipoise.store import tables
from equipoise.store.transact import Store, reading

if TYPE_CHECKING:
    import polars as pl

PIECE = 100_000
"""Rows read at a time."""
Int: TypeAlias = NDArray[np.int64]
Float: TypeAlias = NDArray[np.float64]
Who: TypeAlias = int | Literal["server", "everyone"]
"""Whose numbers: one client's, the server's, or everyone's."""


def rows(
    store: Store, run_id: str, *, names: Collection[str] = (), step: int | None = None, client: Who = "everyone"
) -> list[Row]:
    """One run's numbers, ordered by step, client (the server first) and name; empty `names` means all."""
    table = tables.metrics.c
    columns = (table.step, table.round, table.client, table.name, table.value)
    query = _ordered(select(*columns).where(table.run_id == run_id, *_wanted(names, step, client)))
    with reading(store) as connection:
        return [Row(*row) for row in connection.execute(query)]


def metrics(
    store: Store,
    run_ids: str | Collection[str],
    *,
    names: Collection[str] = (),
    step: int | None = None,
    client: Who = "everyone",
) -> pl.DataFrame:
    """The numbers of one or several runs as a table: run_id, step, round, client, name, value (NaN stays NaN)."""
    import polars as pl

    wanted = [run_ids] if isinstance(run_ids, str) else list(run_ids)
    table = tables.metrics.c
    query = _ordered(select(tables.metrics).where(table.run_id.in_(wanted), *_wanted(names, step, client)))
    schema = {"run_id": pl.String, "step": pl.Int64, "round": pl.Int64, "client": pl.Int64, "name": pl.String}
    with reading(store) as connection:
        found = [tuple(row) for row in connection.execute(query)]
    return pl.DataFrame(found, schema=schema | {"value": pl.Float64}, orient="row")


def columns(store: Store, run_id: str, server: int) -> tuple[list[str], NDArray[np.intp], Int, Int, Float]:
    """All numbers of a run as columns: the distinct names; then per row the index of its name, client, step, value.

    The server's rows have `server` as client. Rows are read in chunks, so that memory holds arrays and not rows."""
    table = tables.metrics.c
    query = select(table.name, table.client, table.step, table.value).where(table.run_id == run_id)
    places: dict[str, int] = {}
    pieces: list[tuple[Any, ...]] = []
    with reading(store) as connection:
        for rows in connection.execution_options(yield_per=PIECE).execute(query).partitions():
            which = np.array([places.setdefault(row.name, len(places)) for row in rows], dtype=np.intp)
            owners = np.array([server if row.client is None else row.client for row in rows], dtype=np.int64)
            steps, values = np.array([row.step for row in rows]), np.array([row.value for row in rows])
            pieces.append((which, owners, steps, values))
    empty = (np.empty(0, np.intp), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    which, owners, steps, values = (np.concatenate(parts) for parts in zip(empty, *pieces, strict=True))
    return list(places), which, owners, steps, values


def final_metrics(store: Store, run_id: str) -> dict[str, float]:
    """The server's final values: {name: value}, each at its last step."""
    table = tables.metrics.c
    server = (table.run_id == run_id, table.client.is_(None))
    last = select(func.max(table.step)).where(*server).scalar_subquery()
    query = select(table.name, table.value).where(*server, table.step == last).order_by(table.name)
    with reading(store) as connection:
        return {row.name: row.value for row in connection.execute(query)}


def _wanted(names: Collection[str], step: int | None, client: Who) -> list[ColumnElement[bool]]:
    table = tables.metrics.c
    wanted: list[ColumnElement[bool]] = []
    if names:
        wanted.append(table.name.in_(list(names)))
    if step is not None:
        wanted.append(table.step == step)
    if client != "everyone":
        wanted.append(table.client.is_(None) if client == "server" else table.client == client)
    return wanted


def _ordered(query: Select[Any]) -> Select[Any]:
    table = tables.metrics.c
    return query.order_by(table.run_id, table.step, func.coalesce(table.client, -1), table.name)
