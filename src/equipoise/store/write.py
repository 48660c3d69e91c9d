"""Records a run. Each function is one transaction.

    hold → create_run → (blobs.put … → commit_step → prune) per step → finish

`commit_step` writes a step's numbers, events and checkpoint together. A run killed at any instant therefore has
complete steps only, and resumes from the newest checkpoint.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from equipoise.core.errors import ConfigError, NoSuchRun, Problem, StoreError
from equipoise.core.values import Event, Row
from equipoise.store import tables
from equipoise.store.locks import hold, is_alive
from equipoise.store.migrations import ADVISORY_KEY
from equipoise.store.records import Client, Ending, NewRun, PartitionRecord, new_run_id, now
from equipoise.store.transact import Store, writing


def create_run(
    store: Store,
    run: NewRun,
    partition: PartitionRecord | None = None,
    clients: Iterable[Client] = (),
    events: Iterable[Event] = (),
) -> None:
    """Creates a run with its partition, clients and first events: all of it, or nothing."""
    time = now()
    row = {**asdict(run), "environment": _where_we_are(run.environment)}
    with writing(store) as connection:
        if partition is not None:
            insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
            connection.execute(insert(tables.partitions).values(**asdict(partition)).on_conflict_do_nothing())
            row["partition_fingerprint"] = partition.fingerprint
        connection.execute(tables.runs.insert().values(**row, status="running", created=time, updated=time))
        _insert(connection, tables.clients, [{"run_id": run.run_id, **asdict(client)} for client in clients])
        _insert(connection, tables.events, [_event(run.run_id, event, event.step) for event in events])


def restart(store: Store, run_id: str, environment: Mapping[str, Any]) -> None:
    """Marks the run as running in this process; `resume` calls it before training continues."""
    with writing(store) as connection:
        _change(connection, store, run_id, **_running_again(environment))


def extend(store: Store, run: NewRun, event: Event) -> None:
    """The same for a run that goes on under a longer configuration, `run.config`: it is no longer a cell of a sweep."""
    changes = {"config": run.config, "config_hash": run.config_hash, "sweep": None, "cell": None}
    run_id = run.run_id
    with writing(store) as connection:
        _change(connection, store, run_id, **changes, **_running_again(run.environment))
        connection.execute(delete(tables.members).where(tables.members.c.run_id == run_id))
        _insert(connection, tables.events, [_event(run_id, event, event.step)])


def _running_again(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "running", "finished": None, "error": None, "environment": _where_we_are(environment)}


def commit_step(
    store: Store, run_id: str, step: int, rows: Iterable[Row], events: Iterable[Event], manifest: Mapping[str, str]
) -> None:
    """Records one step, all of it or nothing: numbers, events and checkpoint ({name: blob digest})."""
    numbers = [_number(run_id, step, row) for row in rows]
    happened = [_event(run_id, event, step) for event in events]
    with writing(store) as connection:
        _change(connection, store, run_id)
        _follows(connection, store, run_id, step)
        _insert(connection, tables.metrics, numbers)
        _insert(connection, tables.events, happened)
        checkpoint = {"run_id": run_id, "step": step, "manifest": dict(manifest), "time": now()}
        _insert(connection, tables.checkpoints, [checkpoint])


def add_events(store: Store, run_id: str, events: Iterable[Event]) -> None:
    with writing(store) as connection:
        _change(connection, store, run_id)
        _insert(connection, tables.events, [_event(run_id, event, event.step) for event in events])


def finish(store: Store, run_id: str, status: Ending, error: str | None = None) -> None:
    with writing(store) as connection:
        _change(connection, store, run_id, status=status, finished=now(), error=None if error is None else _text(error))


def rewind(store: Store, run_id: str, step: int) -> None:
    """Deletes everything after `step` (-1: everything): numbers, checkpoints, events of later steps, findings.

    Events without a step stay, because a stop or a rewind is part of the run's history.
    """
    with writing(store) as connection:
        _change(connection, store, run_id)
        for table in (tables.metrics, tables.checkpoints, tables.events):
            connection.execute(delete(table).where(table.c.run_id == run_id, table.c.step > step))
        connection.execute(delete(tables.findings).where(tables.findings.c.run_id == run_id))


def prune(store: Store, run_id: str, keep: int = 2) -> None:
    """Deletes all but the newest `keep` checkpoints; `blobs.gc` removes the files that are then unreferenced."""
    assert keep > 0, "the newest checkpoint is where a killed run goes on"
    rows = tables.checkpoints.c
    with writing(store) as connection:
        _change(connection, store, run_id)
        steps = connection.scalars(select(rows.step).where(rows.run_id == run_id).order_by(rows.step.desc())).all()
        connection.execute(delete(tables.checkpoints).where(rows.run_id == run_id, rows.step.in_(steps[keep:])))


def set_findings(store: Store, run_id: str, findings: Iterable[Mapping[str, Any]]) -> None:
    """Replaces the findings of a run, keeping their order. Each has a code and a severity."""
    rows = [
        {"run_id": run_id, "code": each["code"], "severity": each["severity"], "body": {**each, "rank": rank}}
        for rank, each in enumerate(findings)
    ]
    with writing(store) as connection:
        _change(connection, store, run_id)
        connection.execute(delete(tables.findings).where(tables.findings.c.run_id == run_id))
        _insert(connection, tables.findings, rows)


def name_sweep(store: Store, wanted: str, grid: str, labels: Collection[str], *, is_given: bool) -> str:
    """The name of a grid: the one it has already, else `wanted` if that is free, else `wanted-2`, `wanted-3` …

    A name that the user gave and that belongs to another grid is refused. Older stores did not record the grid: there a
    sweep with the same labels counts as the same.
    """
    table = tables.sweeps
    with writing(store) as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_KEY})")
        known = {row.name: row.grid for row in connection.execute(select(table.c.name, table.c.grid))}
        former: dict[str, set[str]] = {}
        for name, label in connection.execute(select(tables.members.c.sweep, tables.members.c.label)):
            former.setdefault(name, set()).add(label)
        known = {name: grid if found == set(labels) else "" for name, found in former.items()} | known
        if is_given and known.get(wanted, grid) != grid:
            what = f"sweep '{wanted}' stands for another grid already"
            fix = f"another --name; known: {', '.join(sorted(known))}"
            raise ConfigError([Problem("--name", what)], where=store.location, fix=fix)
        for name in (wanted, *(f"{wanted}-{number}" for number in range(2, len(known) + 3))):
            if known.get(name, grid) == grid:
                insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
                row = insert(table).values(name=name, grid=grid, created=now())
                connection.execute(row.on_conflict_do_nothing())
                return name
    raise AssertionError("one of so many names is free")


def set_members(store: Store, sweep: str, members: Iterable[tuple[str, str]]) -> None:
    """Replaces the (label, run id) pairs of a sweep, keeping their order."""
    rows = [{"sweep": sweep, "position": i, "label": label, "run_id": run} for i, (label, run) in enumerate(members)]
    with writing(store) as connection:
        connection.execute(delete(tables.members).where(tables.members.c.sweep == sweep))
        _insert(connection, tables.members, rows)


def _change(connection: Connection, store: Store, run_id: str, **changes: Any) -> None:
    """Updates the run's row, at least its time; on PostgreSQL this also locks out other writers of the run."""
    rows = tables.runs
    done = connection.execute(update(rows).where(rows.c.run_id == run_id).values(**{"updated": now()} | changes))
    if done.rowcount == 0:
        fix = "`equipoise ls` lists the runs"
        raise NoSuchRun(f"run '{run_id}' is not in the store", where=store.location, fix=fix)


def _follows(connection: Connection, store: Store, run_id: str, step: int) -> None:
    rows = tables.checkpoints.c
    newest = connection.scalar(select(func.max(rows.step)).where(rows.run_id == run_id))
    if newest is not None and step <= newest:
        what = f"step {step} of run '{run_id}' cannot be recorded: step {newest} is there already"
        raise StoreError(what, where=store.location, fix="rewind the run before recording a step again")


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(table.insert(), rows)


def _number(run_id: str, step: int, row: Row) -> dict[str, Any]:
    assert row.step == step, f"a row of step {row.step} among those of step {step}: {row}"
    numbers = {"step": row.step, "round": row.round, "client": row.client, "value": row.value}
    return {"run_id": run_id, "name": row.name, **numbers}


def _event(run_id: str, event: Event, step: int | None) -> dict[str, Any]:
    assert event.step in (None, step), f"an event of step {event.step} among those of step {step}: {event}"
    about = {"step": step, "client": event.client, "detail": dict(event.detail)}
    return {"run_id": run_id, "time": now(), "kind": event.kind, "message": _text(event.message), **about}


def _text(text: str) -> str:
    """Text that every database can store: undecodable characters and NUL become escapes."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _where_we_are(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {**environment, "host": socket.gethostname(), "pid": os.getpid()}


__all__ = [
    "add_events",
    "commit_step",
    "create_run",
    "extend",
    "finish",
    "hold",
    "is_alive",
    "name_sweep",
    "new_run_id",
    "prune",
    "restart",
    "rewind",
    "set_findings",
    "set_members",
]
