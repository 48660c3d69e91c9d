"""Reads runs, events and findings. No function here waits for a writer or changes anything."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, func, select

from equipoise.core.errors import NoSuchRun, StoreError
from equipoise.core.values import Event
from equipoise.store import tables
from equipoise.store.locks import is_alive
from equipoise.store.metrics import final_metrics, metrics, rows
from equipoise.store.records import Checkpoint, Client, PartitionRecord, RecordedEvent, Run, Status
from equipoise.store.transact import Store, reading

LATEST = "latest"
SHOWN = 8


def runs(
    store: Store,
    *,
    name: str | None = None,
    status: Status | None = None,
    sweep: str | None = None,
    config_hash: str | None = None,
) -> list[Run]:
    """The matching runs, newest first."""
    table = tables.runs
    query = select(table).order_by(table.c.created.desc(), table.c.run_id)
    for column, wanted in ((table.c.name, name), (table.c.sweep, sweep), (table.c.config_hash, config_hash)):
        query = query if wanted is None else query.where(column == wanted)
    if status is not None:  # `killed` is derived, not stored: its filter comes afterwards
        query = query.where(table.c.status == ("running" if status == "killed" else status))
    with reading(store) as connection:
        found = connection.execute(query).mappings().all()
    everything = [_run(store, row) for row in found]
    return [run for run in everything if status is None or run.status == status]


def matching(
    store: Store, conditions: Sequence[ColumnElement[bool]], *, limit: int, offset: int = 0
) -> tuple[list[Run], int]:
    """One page of the runs that meet conditions on the columns of the table `runs`, newest first; and how many do."""
    table = tables.runs
    query = select(table).where(*conditions).order_by(table.c.created.desc(), table.c.run_id)
    with reading(store) as connection:
        n = connection.scalar(select(func.count()).select_from(table).where(*conditions)) or 0
        found = connection.execute(query.limit(limit).offset(offset)).mappings().all()
    return [_run(store, row) for row in found], n


def find_run(store: Store, query: str) -> Run:
    """The run with that id or unique prefix of an id, or the `latest` run."""
    table = tables.runs
    with reading(store) as connection:
        known = connection.scalars(select(table.c.run_id).order_by(table.c.created.desc(), table.c.run_id)).all()
        run_id = _resolve(store, query, list(known))
        row = connection.execute(select(table).where(table.c.run_id == run_id)).mappings().one()
    return _run(store, row)


def _resolve(store: Store, query: str, known: list[str]) -> str:
    if query == LATEST and known:
        return known[0]
    candidates = [query] if query in known else [run_id for run_id in known if query and run_id.startswith(query)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        what = f"'{query}' could be any of {len(candidates)} runs: {_listed(candidates)}"
        raise NoSuchRun(what, where=store.location, fix="give more of the id")
    near = get_close_matches(query, known, n=3, cutoff=0.4)
    fix = f"did you mean {_listed(near)}?" if near else "`equipoise ls` lists the runs"
    raise NoSuchRun(f"there is no run '{query}' among {len(known)}", where=store.location, fix=fix)


def _listed(run_ids: list[str]) -> str:
    more = f" and {len(run_ids) - SHOWN} more" if len(run_ids) > SHOWN else ""
    return ", ".join(run_ids[:SHOWN]) + more


def _run(store: Store, row: RowMapping) -> Run:
    values: dict[str, Any] = dict(row)
    partition = values.pop("partition_fingerprint")
    if values["status"] == "running" and values["environment"]["host"] == socket.gethostname():
        values["status"] = "running" if is_alive(store, values["run_id"]) else "killed"
    values["config"].get("engine", {}).setdefault("device", "cpu")  # runs of earlier versions
    return Run(**values, partition=partition)


def checkpoints(store: Store, run_id: str) -> list[Checkpoint]:
    """The checkpoints from which the run can continue, newest first."""
    table = tables.checkpoints.c
    query = select(table.step, table.manifest, table.time).where(table.run_id == run_id).order_by(table.step.desc())
    with reading(store) as connection:
        return [Checkpoint(*row) for row in connection.execute(query)]


def events(store: Store, run_id: str) -> list[RecordedEvent]:
    """The events of a run, in the order in which they were recorded."""
    table = tables.events.c
    columns = (table.time, table.kind, table.message, table.step, table.client, table.detail)
    query = select(*columns).where(table.run_id == run_id).order_by(table.id)
    with reading(store) as connection:
        return [RecordedEvent(time, Event(*about)) for time, *about in connection.execute(query)]


def fused(store: Store) -> dict[str, str]:
    """{fused run: the run whose clients it uses}."""
    table = tables.events.c
    with reading(store) as connection:
        found = connection.execute(select(table.run_id, table.detail).where(table.kind == "fused"))
        return {run_id: detail["from"] for run_id, detail in found}


def findings(store: Store, run_id: str) -> list[dict[str, Any]]:
    """The findings of the last diagnosis, most severe first."""
    table = tables.findings.c
    with reading(store) as connection:
        found = list(connection.scalars(select(table.body).where(table.run_id == run_id)))
    ranked = sorted(found, key=lambda body: body["rank"])
    return [{key: value for key, value in body.items() if key != "rank"} for body in ranked]


def clients(store: Store, run_id: str) -> list[Client]:
    table = tables.clients.c
    query = select(table.client, table.samples, table.labels).where(table.run_id == run_id).order_by(table.client)
    with reading(store) as connection:
        return [Client(*row) for row in connection.execute(query)]


def partition(store: Store, fingerprint: str) -> PartitionRecord:
    table = tables.partitions
    with reading(store) as connection:
        row = connection.execute(select(table).where(table.c.fingerprint == fingerprint)).mappings().one_or_none()
    if row is None:
        fix = "`equipoise show RUN` gives the fingerprint of a run"
        raise StoreError(f"there is no partition '{fingerprint}'", where=store.location, fix=fix)
    return PartitionRecord(**dict(row))


def sweeps(store: Store) -> list[str]:
    """The names of all sweeps."""
    with reading(store) as connection:
        named = connection.scalars(select(tables.sweeps.c.name)).all()
        return sorted({*named, *connection.scalars(select(tables.members.c.sweep))})


def members(store: Store, sweep: str) -> list[tuple[str, str]]:
    """The (label, run id) pairs of a sweep, in the order of its table."""
    table = tables.members.c
    query = select(table.label, table.run_id).where(table.sweep == sweep).order_by(table.position)
    with reading(store) as connection:
        return [(label, run_id) for label, run_id in connection.execute(query)]


def referenced(store: Store) -> set[str]:
    """The digests of all blobs that a checkpoint or a partition refers to; `blobs.gc` keeps these."""
    with reading(store) as connection:
        manifests = connection.scalars(select(tables.checkpoints.c.manifest)).all()
        owners = connection.scalars(select(tables.partitions.c.owners)).all()
    return {digest for manifest in manifests for digest in manifest.values()} | set(owners)


__all__ = [
    "checkpoints",
    "clients",
    "events",
    "final_metrics",
    "find_run",
    "findings",
    "fused",
    "matching",
    "members",
    "metrics",
    "partition",
    "referenced",
    "rows",
    "runs",
    "sweeps",
]
