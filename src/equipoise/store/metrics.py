"""Reads recorded numbers in long form: one row per step, client and name; no client means the server."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, func, literal_column, select

from equipoise.core.values import Row
from equipoise.store import tables
from equipoise.store.transact import Store, reading

if TYPE_CHECKING:
    import polars as pl

SERVER_KEY = -1
OWNER = func.coalesce(tables.metrics.c.client, literal_column(str(SERVER_KEY)))
"""As in the index: the client, or −1 for the server."""
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


def recorded_names(store: Store, run_id: str) -> list[str]:
    """The names of all numbers of a run; each is one step in the index, however many rows it has."""
    table = tables.metrics.c
    mine = table.run_id == run_id
    first = select(func.min(table.name).label("name")).where(mine).cte("names", recursive=True)
    following = select(func.min(table.name)).where(mine, table.name > first.c.name).scalar_subquery()
    every = first.union_all(select(following).where(first.c.name.is_not(None)))
    with reading(store) as connection:
        return [name for name in connection.scalars(select(every.c.name)) if name is not None]


def final_metrics(store: Store, run_id: str) -> dict[str, float]:
    """The server's final values: {name: value}, all of its last step."""
    names = recorded_names(store, run_id)
    for newest in (last_step, _server_step):  # the first is found at once, and nearly always the server's
        step = newest(store, run_id)
        found = [] if step is None else server_values(store, run_id, names, [step])
        if found:
            return {name: value for name, _, value in found}
    return {}


def last_step(store: Store, run_id: str) -> int | None:
    """The step of the newest checkpoint."""
    table = tables.checkpoints.c
    with reading(store) as connection:
        step: int | None = connection.scalar(select(func.max(table.step)).where(table.run_id == run_id))
    return step


def _server_step(store: Store, run_id: str) -> int | None:
    table = tables.metrics.c
    with reading(store) as connection:
        step: int | None = connection.scalar(
            select(func.max(table.step)).where(table.run_id == run_id, OWNER == SERVER_KEY)
        )
    return step


def server_values(
    store: Store, run_id: str, names: Sequence[str], steps: Sequence[int]
) -> list[tuple[str, int, float]]:
    """(name, step, value) of the server at these steps, ordered by name and step; found in the index one by one."""
    table = tables.metrics.c
    mine = (table.run_id == run_id, table.name.in_(names), table.step.in_(steps), OWNER == SERVER_KEY)
    query = select(table.name, table.step, table.value).where(*mine).order_by(table.name, table.step)
    with reading(store) as connection:
        return [(name, step, value) for name, step, value in connection.execute(query)]


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
    return query.order_by(table.run_id, table.step, OWNER, table.name)
