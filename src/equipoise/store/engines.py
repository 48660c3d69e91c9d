"""SQLAlchemy engines: how to connect to each database.

SQLite: a write-ahead log, so readers and the writer never wait for each other. A write transaction takes the write
lock at its start (BEGIN IMMEDIATE), so it waits in one place and never fails halfway. `synchronous = FULL`: with NORMAL
a killed process loses nothing, but a power cut could undo the newest commits and bring back a checkpoint whose blobs
are already removed. One fsync per step costs milliseconds; a step takes seconds.

PostgreSQL: psycopg; `lock_timeout` replaces SQLite's busy timeout.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import QueuePool

from equipoise.core.errors import MissingExtra


def sqlite_engines(path: Path, patience: float) -> tuple[Engine, Engine]:
    """A writer and a read-only reader of one file; only the writer may create it."""
    writer = _sqlite(f"{path.absolute().as_uri()}?mode=rwc", patience, begin="BEGIN IMMEDIATE")
    reader = _sqlite(f"{path.absolute().as_uri()}?mode=ro", patience, begin="BEGIN")
    event.listen(writer, "connect", _set_up_writer)
    return writer, reader


def _sqlite(uri: str, patience: float, begin: str) -> Engine:
    def connect() -> sqlite3.Connection:
        # the driver's own transactions are off: they are deferred, and begin only before some statements
        return sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _set_up_writer(connection: sqlite3.Connection, _: Any) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def postgres_engines(url: URL, patience: float) -> tuple[Engine, Engine]:
    """A writer and a read-only reader of one database."""
    return _postgres(url, patience, None), _postgres(url, patience, True)


def _postgres(url: URL, patience: float, read_only: bool | None) -> Engine:
    defaults = {} if "connect_timeout" in url.query else {"connect_timeout": "10"}
    full = url.set(drivername="postgresql+psycopg").update_query_dict(defaults)
    try:
        engine = create_engine(full, pool_pre_ping=True)
    except ImportError as error:
        fix = "pip install 'equipoise[postgres]'"
        raise MissingExtra(f"a PostgreSQL store needs psycopg: {error}", where="the store", fix=fix) from error

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        connection.execute(f"SET lock_timeout = {max(1, round(patience * 1000))}")
        connection.commit()
        connection.read_only = read_only  # None: the server's default

    return engine
