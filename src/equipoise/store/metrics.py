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
STEPS_AT_ONCE = 2000
"""Steps that one query names."""
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


def recorded_steps(store: Store, run_id: str, name: str, after: int = -1) -> list[int]:
    """The steps at which anybody recorded this number; one look into the index each."""
    table = tables.metrics.c
    mine = (table.run_id == run_id, table.name == name)
    first = select(func.min(table.step).label("step")).where(*mine, table.step > after).cte("steps", recursive=True)
    following = select(func.min(table.step)).where(*mine, table.step > first.c.step).scalar_subquery()
    every = first.union_all(select(following).where(first.c.step.is_not(None)))
    with reading(store) as connection:
        return [step for step in connection.scalars(select(every.c.step)) if step is not None]


def last_recorded(store: Store, run_id: str, name: str) -> int | None:
    """The last step at which anybody recorded this number."""
    table = tables.metrics.c
    query = select(func.max(table.step)).where(table.run_id == run_id, table.name == name)
    with reading(store) as connection:
        step: int | None = connection.scalar(query)
    return step


def has_clients(store: Store, run_id: str, names: Sequence[str]) -> list[str]:
    """Of these numbers those that clients recorded, and not the server alone."""
    table = tables.metrics.c
    with reading(store) as connection:

        def is_recorded(name: str) -> bool:
            mine = (table.run_id == run_id, table.name == name, OWNER >= 0)
            return connection.scalar(select(table.step).where(*mine).limit(1)) is not None

        return [name for name in names if is_recorded(name)]


def final_metrics(store: Store, run_id: str) -> dict[str, float]:
    """The server's final values: {name: value}, all of its last step."""
    names = recorded_names(store, run_id)
    for newest in (last_step, _server_step):  # the first is found at once, and nearly always the server's
        step = newest(store, run_id)
        found = [] if step is None else values_at(store, run_id, names, [step])
        if found:
            return {name: value for name, _, _, value in found}
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


def values_at(
    store: Store, run_id: str, names: Sequence[str], steps: Sequence[int], owners: Sequence[int] = (SERVER_KEY,)
) -> list[tuple[str, int, int, float]]:
    """(name, owner, step, value) of some clients, or of the server; every number is found in the index by itself."""
    table, found = tables.metrics.c, list[tuple[str, int, int, float]]()
    columns = (table.name, OWNER.label("owner"), table.step, table.value)
    with reading(store) as connection:
        for start in range(0, len(steps), STEPS_AT_ONCE):
            part = table.step.in_(steps[start : start + STEPS_AT_ONCE])
            mine = (table.run_id == run_id, table.name.in_(names), part, OWNER.in_(owners))
            found += [tuple(row) for row in connection.execute(select(*columns).where(*mine))]
    return sorted(found)


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
