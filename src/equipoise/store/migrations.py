"""Migrations by name. Each is one transaction that changes the database and records that it was applied.

The SQL is written out rather than derived from `tables.py`, because a published migration must never change.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select

from equipoise.core.errors import WrongStore
from equipoise.store.records import now
from equipoise.store.tables import migrations
from equipoise.store.transact import Store, reading, writing

FIRST = """
CREATE TABLE migrations (name TEXT PRIMARY KEY, applied TEXT NOT NULL);

CREATE TABLE partitions (
  fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, options TEXT NOT NULL, skew TEXT NOT NULL,
  counts TEXT NOT NULL, "overlaps" BOOLEAN NOT NULL, owners TEXT NOT NULL);

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'stopped')),
  method TEXT NOT NULL, seed BIGINT NOT NULL, config TEXT NOT NULL, config_hash TEXT NOT NULL,
  headline TEXT NOT NULL, version TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, finished TEXT,
  error TEXT, sweep TEXT, cell TEXT, partition_fingerprint TEXT REFERENCES partitions, environment TEXT NOT NULL);
CREATE INDEX runs_by_time ON runs (created);
CREATE INDEX runs_by_config ON runs (config_hash);
CREATE INDEX runs_by_sweep ON runs (sweep);

CREATE TABLE metrics (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  step BIGINT NOT NULL, round BIGINT, client BIGINT CHECK (client >= 0), name TEXT NOT NULL, value DOUBLE PRECISION);
CREATE UNIQUE INDEX metrics_by_name ON metrics (run_id, name, step, COALESCE(client, -1));

CREATE TABLE clients (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, client BIGINT NOT NULL,
  samples BIGINT NOT NULL, labels TEXT NOT NULL, PRIMARY KEY (run_id, client));

CREATE TABLE events (
  id {identity} PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, time TEXT NOT NULL,
  kind TEXT NOT NULL, step BIGINT, client BIGINT, message TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX events_by_run ON events (run_id, id);

CREATE TABLE findings (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, code TEXT NOT NULL,
  severity TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, code));

CREATE TABLE checkpoints (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, step BIGINT NOT NULL,
  manifest TEXT NOT NULL, time TEXT NOT NULL, PRIMARY KEY (run_id, step))
"""
IDENTITY = {"sqlite": "INTEGER", "postgresql": "BIGINT GENERATED ALWAYS AS IDENTITY"}
ADVISORY_KEY = int.from_bytes(b"equipois", "big", signed=True)


def first_tables(connection: Connection) -> None:
    """runs, metrics, clients, partitions, events, findings, checkpoints."""
    for statement in FIRST.format(identity=IDENTITY[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)


def facts_and_members(connection: Connection) -> None:
    """facts: properties of the store itself; members: the runs of a sweep, in the order of its table."""
    connection.exec_driver_sql("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    columns = "sweep TEXT NOT NULL, position BIGINT NOT NULL, label TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs"
    connection.exec_driver_sql(f"CREATE TABLE members ({columns} ON DELETE CASCADE, PRIMARY KEY (sweep, position))")


def named_sweeps(connection: Connection) -> None:
    """sweeps: the grid behind each sweep name."""
    columns = "name TEXT PRIMARY KEY, grid TEXT NOT NULL, created TEXT NOT NULL"
    connection.exec_driver_sql(f"CREATE TABLE sweeps ({columns})")


def progress_and_requests(connection: Connection) -> None:
    """progress: how far a step has come; requests: what a run is asked to do at its next checkpoint."""
    run = "run_id TEXT {key} REFERENCES runs ON DELETE CASCADE"
    connection.exec_driver_sql(
        f"CREATE TABLE progress ({run.format(key='PRIMARY KEY')}, time TEXT NOT NULL, body TEXT NOT NULL)"
    )
    number = f"id {IDENTITY[connection.dialect.name]} PRIMARY KEY"
    columns = f"{number}, {run.format(key='NOT NULL')}, action TEXT NOT NULL, time TEXT NOT NULL, taken TEXT"
    connection.exec_driver_sql(f"CREATE TABLE requests ({columns})")
    connection.exec_driver_sql("CREATE INDEX requests_by_run ON requests (run_id)")


def sent_to_trackers(connection: Connection) -> None:
    """trackers: how far a run was sent to a tracker, and its id there."""
    run = "run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE"
    columns = f"{run}, tracker TEXT NOT NULL, place TEXT NOT NULL, remote TEXT NOT NULL, sent BIGINT NOT NULL"
    connection.exec_driver_sql(f"CREATE TABLE trackers ({columns}, PRIMARY KEY (run_id, tracker, place))")


def searches_and_trials(connection: Connection) -> None:
    """searches: ranges and the way to search them; trials: the settings that were tried, and their scores."""
    columns = "sweep TEXT PRIMARY KEY, plan TEXT NOT NULL, importance TEXT NOT NULL, created TEXT NOT NULL"
    connection.exec_driver_sql(f"CREATE TABLE searches ({columns})")
    trial = "sweep TEXT NOT NULL REFERENCES searches ON DELETE CASCADE, number BIGINT NOT NULL, settings TEXT NOT NULL"
    states = "state TEXT NOT NULL CHECK (state IN ('running', 'done', 'pruned', 'failed'))"
    outcome = f"{states}, score DOUBLE PRECISION, seconds DOUBLE PRECISION NOT NULL, runs TEXT NOT NULL, error TEXT"
    connection.exec_driver_sql(f"CREATE TABLE trials ({trial}, {outcome}, PRIMARY KEY (sweep, number))")


MIGRATIONS: dict[str, Callable[[Connection], None]] = {
    "0001-first-tables": first_tables,
    "0002-facts-and-members": facts_and_members,
    "0003-named-sweeps": named_sweeps,
    "0004-progress-and-requests": progress_and_requests,
    "0005-sent-to-trackers": sent_to_trackers,
    "0006-searches-and-trials": searches_and_trials,
}


def is_current(store: Store) -> bool:
    with reading(store) as connection:
        return not missing(connection, store)


def migrate(store: Store) -> None:
    """Applies the missing migrations; safe if several processes open a new store at the same time."""
    for name, apply in MIGRATIONS.items():
        with writing(store) as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_KEY})")
            if name in missing(connection, store):
                apply(connection)
                connection.execute(migrations.insert().values(name=name, applied=now()))


def missing(connection: Connection, store: Store) -> list[str]:
    """The migrations not yet applied. A database of a newer version, or of another program, is refused."""
    tables = inspect(connection).get_table_names()
    if migrations.name not in tables:
        if tables:
            what = f"the database holds tables that are not ours: {', '.join(sorted(tables)[:5])}"
            raise WrongStore(what, where=store.location, fix="give a store of its own: a new file, database or schema")
        return list(MIGRATIONS)
    applied = set(connection.scalars(select(migrations.c.name)))
    newer = sorted(applied - set(MIGRATIONS))
    if newer:
        what = f"the store was written by a newer version of Equipoise (it has {', '.join(newer)})"
        raise WrongStore(what, where=store.location, fix="pip install --upgrade equipoise, or use another store")
    return [name for name in MIGRATIONS if name not in applied]
