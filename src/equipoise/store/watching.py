"""What passes between a run and those who watch it, while it goes on.

run → watcher    progress: one row per run that goes on, written anew every few seconds
watcher → run    requests: read at the run's next checkpoint
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from equipoise.core.errors import ConfigError
from equipoise.store.read import find_run
from equipoise.store.records import now
from equipoise.store.tables import progress, requests
from equipoise.store.transact import Store, reading, writing

RequestedAction: TypeAlias = Literal["stop"]
ACTIONS: tuple[str, ...] = get_args(RequestedAction)


def set_progress(store: Store, run_id: str, body: Mapping[str, Any]) -> None:
    row = {"time": now(), "body": dict(body)}
    with writing(store) as connection:
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        added = insert(progress).values(run_id=run_id, **row)
        connection.execute(added.on_conflict_do_update(index_elements=["run_id"], set_=row))


def end_progress(store: Store, run_id: str) -> None:
    """Remove the row of a run that has ended, and requests that it can no longer follow."""
    with writing(store) as connection:
        connection.execute(delete(progress).where(progress.c.run_id == run_id))
        open_ = (requests.c.run_id == run_id, requests.c.taken.is_(None))
        connection.execute(delete(requests).where(*open_))


def all_progress(store: Store) -> dict[str, dict[str, Any]]:
    """{run: what it last said of itself, with the time of that}."""
    with reading(store) as connection:
        found = connection.execute(select(progress)).mappings().all()
    return {row["run_id"]: {**row["body"], "time": row["time"]} for row in found}


def request(store: Store, run_id: str, action: RequestedAction) -> None:
    """Ask a run that goes on to do something at its next checkpoint; asking twice is asking once."""
    run = find_run(store, run_id)
    if run.status != "running":
        fix = f"`equipoise resume {run.run_id}` goes on with it" if run.status != "done" else ""
        raise ConfigError(f"run '{run.run_id}' is {run.status}: nothing is going on there", fix=fix)
    with writing(store) as connection:
        if action not in _open(connection.execute(select(requests).where(requests.c.run_id == run.run_id)).all()):
            connection.execute(requests.insert().values(run_id=run.run_id, action=action, time=now()))


def requested(store: Store, run_id: str) -> list[str]:
    """What the run is asked to do and has not taken up yet."""
    with reading(store) as connection:
        return _open(connection.execute(select(requests).where(requests.c.run_id == run_id)).all())


def take_requests(store: Store, run_id: str) -> list[str]:
    """The open requests, which count as taken from now on."""
    found = requested(store, run_id)
    if found:
        with writing(store) as connection:
            mine = update(requests).where(requests.c.run_id == run_id, requests.c.taken.is_(None))
            connection.execute(mine.values(taken=now()))
    return found


def _open(rows: Any) -> list[str]:
    return [row.action for row in rows if row.taken is None]
