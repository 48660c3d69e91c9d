"""The tables for queries; `migrations.py` creates them with their keys and indexes.

runs ─┬─ metrics      one number of one step: of a client, or of the server (client is null)
      ├─ clients      the clients of a run, with their samples per label
      ├─ events       what happened, apart from numbers
      ├─ findings     the findings of the last diagnosis
      └─ checkpoints  the blobs that hold the state after a step
partitions            which client owns which samples; shared by all runs with the same fingerprint
sweeps                the grid behind each sweep name
members               the runs of a sweep, in the order of its table
progress              how far the step of a run that goes on has come; gone with its process
requests              what a run is asked to do at its next checkpoint
trackers              how far a run was sent to a tracker, and its id there
searches              the ranges and the way of each search, by the name of its sweep
trials                the settings that a search tried, and what validation said of them
facts                 properties of the store itself: where its files are
migrations            the migrations applied to this database
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Double, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator


def plain(value: Any) -> Any:
    """Converts numpy numbers, arrays and paths to JSON; anything else is a programming error."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be kept as JSON")


class Json(TypeDecorator[Any]):
    """JSON as ASCII text, which both databases keep unchanged."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return json.dumps(value, default=plain)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value)


class Number(TypeDecorator[float]):
    """A double. NaN is stored as NULL, because SQLite has no NaN; infinities are stored as they are."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        assert value is not None
        return None if math.isnan(value) else float(value)

    def process_result_value(self, value: float | None, dialect: Dialect) -> float:
        return math.nan if value is None else value


metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("name", Text),
    Column("status", Text),
    Column("method", Text),
    Column("seed", BigInteger),
    Column("config", Json),
    Column("config_hash", Text),
    Column("headline", Text),
    Column("version", Text),
    Column("created", Text),
    Column("updated", Text),
    Column("finished", Text),
    Column("error", Text),
    Column("sweep", Text),
    Column("cell", Text),
    Column("partition_fingerprint", Text),
    Column("environment", Json),
)

metrics = Table(
    "metrics",
    metadata,
    Column("run_id", Text),
    Column("step", BigInteger),
    Column("round", BigInteger),
    Column("client", BigInteger),
    Column("name", Text),
    Column("value", Number),
)

clients = Table(
    "clients",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("client", BigInteger, primary_key=True),
    Column("samples", BigInteger),
    Column("labels", Json),
)

partitions = Table(
    "partitions",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("name", Text),
    Column("options", Json),
    Column("skew", Json),
    Column("counts", Json),
    Column("overlaps", Boolean),
    Column("owners", Text),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("run_id", Text),
    Column("time", Text),
    Column("kind", Text),
    Column("step", BigInteger),
    Column("client", BigInteger),
    Column("message", Text),
    Column("detail", Json),
)

findings = Table(
    "findings",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("code", Text, primary_key=True),
    Column("severity", Text),
    Column("body", Json),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("step", BigInteger, primary_key=True),
    Column("manifest", Json),
    Column("time", Text),
)

migrations = Table(
    "migrations",
    metadata,
    Column("name", Text, primary_key=True),
    Column("applied", Text),
)

facts = Table("facts", metadata, Column("name", Text, primary_key=True), Column("value", Text))

sweeps = Table(
    "sweeps",
    metadata,
    Column("name", Text, primary_key=True),
    Column("grid", Text),
    Column("created", Text),
)

members = Table(
    "members",
    metadata,
    Column("sweep", Text, primary_key=True),
    Column("position", BigInteger, primary_key=True),
    Column("label", Text),
    Column("run_id", Text),
)

progress = Table(
    "progress",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("time", Text),
    Column("body", Json),
)

requests = Table(
    "requests",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("run_id", Text),
    Column("action", Text),
    Column("time", Text),
    Column("taken", Text),
)

trackers = Table(
    "trackers",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("tracker", Text, primary_key=True),
    Column("place", Text, primary_key=True),
    Column("remote", Text),
    Column("sent", BigInteger),
)

searches = Table(
    "searches",
    metadata,
    Column("sweep", Text, primary_key=True),
    Column("plan", Json),
    Column("importance", Json),
    Column("created", Text),
)

trials = Table(
    "trials",
    metadata,
    Column("sweep", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("settings", Json),
    Column("state", Text),
    Column("score", Double),
    Column("seconds", Double),
    Column("runs", Json),
    Column("error", Text),
)
