"""The recorded numbers, in long form: one row per step, client and name; no client means the server."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Select, func, select

from equipoise.core.values import Row
from equipoise.store import tables
from equipoise.store.transact import Store, reading

if TYPE_CHECKING:
    import polars as pl

Who: TypeAlias = int | Literal["server", "everyone"]
"""Whose numbers: one client's, the server's, or everyone's."""


def rows(
    store: Store, run_id: str, *, names: Collection[str] = (), step: int | None = None, client: Who = "everyone"
) -> list[Row]:
    """One run's numbers by step, client (the server first) and name; `names` empty means all."""
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


def final_metrics(store: Store, run_id: str) -> dict[str, float]:
    """What the server measured last: {name: value} at its last step."""
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
