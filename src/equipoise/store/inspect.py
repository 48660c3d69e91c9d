"""A store as it is, without creating or migrating anything: its schema, its runs, and whether it takes writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select, text

from equipoise.core.errors import StoreError
from equipoise.store import tables
from equipoise.store.database import as_it_is
from equipoise.store.migrations import missing
from equipoise.store.transact import Store, reading

PATIENCE = 3.0


@dataclass(frozen=True)
class Inspection:
    """`migrations`: those that the next command will apply. `refuses_writes`: why, empty if it takes them."""

    location: str
    migrations: list[str]
    runs: int
    refuses_writes: str


def inspected(place: str) -> Inspection:
    """The store at a path or URL; a WrongStore or StoreError where it is none, or cannot be reached."""
    if "://" not in place and not Path(place).is_file():
        raise StoreError("a store is a file, not a folder", where=place, fix="give the path of a file")
    with as_it_is(place, PATIENCE) as store:
        with reading(store) as connection:
            lacks = missing(connection, store)
            has_runs = "0001-first-tables" not in lacks
            runs = int(connection.scalar(select(func.count()).select_from(tables.runs)) or 0) if has_runs else 0
        refusal = _of_file(Path(place)) if store.writer.dialect.name == "sqlite" else _of_server(store, has_runs)
    return Inspection(store.location, lacks, runs, refusal)


def _of_file(path: Path) -> str:
    """A write transaction that changes nothing; another process that writes just now is no refusal."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=PATIENCE)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        is_busy = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
        return "" if is_busy else f"cannot be written to ({error})"
    return ""


def _of_server(store: Store, has_runs: bool) -> str:
    """Whether this user may write: rows where the tables are there, otherwise tables."""
    question = (
        "has_table_privilege('runs', 'INSERT')" if has_runs else "has_schema_privilege(current_schema(), 'CREATE')"
    )
    with reading(store) as connection:
        if connection.scalar(text("SELECT pg_is_in_recovery()")):
            return "the server is a replica, which takes no writes"
        may = connection.scalar(text(f"SELECT {question}"))
    return "" if may else "this user may not write to it"
