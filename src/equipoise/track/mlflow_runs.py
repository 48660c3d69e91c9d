"""Runs of MLflow as its stores give them: a server, a folder `mlruns`, or an SQLite file. Nothing there is changed.

A folder and an SQLite file are read as files: MLflow's own client would add to the one and migrate the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.core.errors import DataError
from equipoise.track.history import MOST_RUNS, WantedRuns, require_size

LARGEST_TEXT = 2**16
"""Bytes of a file of a parameter, a tag or a description."""
LARGEST_CURVE = 64 * 2**20
STATUSES = ("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")
"""By their numbers in files, from 1 on."""


@dataclass(frozen=True)
class MlflowRun:
    """One run; times are milliseconds since 1970. `points` gives (metric, step, value) when it is asked."""

    remote: str
    name: str
    status: str
    started: int | None
    ended: int | None
    params: Mapping[str, str]
    tags: Mapping[str, str]
    points: Callable[[], list[tuple[str, int, float]]]


def of_server(client: Any, wanted: WantedRuns) -> Iterator[MlflowRun]:
    experiments = [each for each in client.search_experiments() if wanted.experiment in (None, each.name)]
    token: str | None = None
    while experiments:
        ids = [each.experiment_id for each in experiments]
        page = client.search_runs(ids, max_results=MOST_RUNS, page_token=token)
        for run in page:
            info, data = run.info, run.data
            keys = list(data.metrics)
            about = (info.run_id, info.run_name or "", info.status, info.start_time, info.end_time)
            yield MlflowRun(*about, data.params, data.tags, _asked(client, info.run_id, keys))
        token = page.token
        if not token:
            return


def _asked(client: Any, run_id: str, keys: Sequence[str]) -> Callable[[], list[tuple[str, int, float]]]:
    def points() -> list[tuple[str, int, float]]:
        return [(key, point.step, point.value) for key in keys for point in client.get_metric_history(run_id, key)]

    return points


def of_folder(path: Path, wanted: WantedRuns) -> Iterator[MlflowRun]:
    for meta in sorted([*path.glob("meta.yaml"), *path.glob("*/meta.yaml"), *path.glob("*/*/meta.yaml")]):
        about, folder = _meta(meta), meta.parent
        if "run_id" not in about and "run_uuid" not in about:
            continue
        experiment = _meta(folder.parent / "meta.yaml").get("name") if (folder.parent / "meta.yaml").is_file() else None
        if about.get("lifecycle_stage", "active") != "active" or wanted.experiment not in (None, experiment):
            continue
        status = about.get("status", 3)
        yield MlflowRun(
            str(about.get("run_id") or about.get("run_uuid")),
            str(about.get("run_name") or ""),
            STATUSES[status - 1] if isinstance(status, int) and 1 <= status <= len(STATUSES) else str(status),
            _moment(about.get("start_time")),
            _moment(about.get("end_time")),
            _texts(folder / "params"),
            _texts(folder / "tags"),
            partial(_curves, folder / "metrics"),
        )


def _meta(path: Path) -> dict[str, Any]:
    """The plain values of a description."""
    import yaml

    require_size(path, LARGEST_TEXT)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        what = f"'{path.name}' is not MLflow's description: {str(error).splitlines()[0]}"
        raise DataError(what, where=str(path), fix="check the folder") from None
    found = content if isinstance(content, dict) else {}
    return {str(key): value for key, value in found.items() if isinstance(value, str | int | None)}


def _moment(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _inside(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, file) of the files below a folder; links that lead out of it are not followed."""
    home = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.resolve().is_relative_to(home):
            yield path.relative_to(folder).as_posix(), path


def _texts(folder: Path) -> dict[str, str]:
    found = {}
    for name, path in _inside(folder):
        require_size(path, LARGEST_TEXT)
        found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found


def _curves(folder: Path) -> list[tuple[str, int, float]]:
    """Lines `timestamp value step`."""
    points = []
    for name, path in _inside(folder):
        require_size(path, LARGEST_CURVE)
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            words = line.split()
            try:
                points.append((name, int(words[2]) if len(words) > 2 else 0, float(words[1])))
            except (IndexError, ValueError):
                what = f"line {number} of metric '{name}' is not `timestamp value step`"
                raise DataError(what, where=str(path), fix="check the file") from None
    return points


def of_database(path: Path, wanted: WantedRuns) -> Iterator[MlflowRun]:
    require_size(path, 4 * 2**30)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            yield from _of_database(database, path, wanted)
    except sqlite3.Error as error:
        raise DataError(f"'{path.name}' cannot be read: {error}", where=str(path), fix="check the file") from None


def _of_database(database: sqlite3.Connection, path: Path, wanted: WantedRuns) -> Iterator[MlflowRun]:
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"experiments", "runs", "metrics", "params", "tags"} <= tables:
        is_ours = {"runs", "metrics", "checkpoints"} <= tables
        what = f"'{path.name}' is {'a store of Equipoise' if is_ours else 'not a database of MLflow'}"
        fix = f"use it as it is: --store {path}" if is_ours else "give MLflow's SQLite file"
        raise DataError(what, where=str(path), fix=fix)
    query = (
        "SELECT run_uuid, runs.name, status, start_time, end_time FROM runs JOIN experiments USING (experiment_id)"
        " WHERE runs.lifecycle_stage = 'active' AND (?1 IS NULL OR experiments.name = ?1) ORDER BY start_time"
    )
    for remote, name, status, started, ended in database.execute(query, (wanted.experiment,)).fetchall():
        params, tags = (
            dict(database.execute(f"SELECT key, value FROM {table} WHERE run_uuid = ?", (remote,)).fetchall())
            for table in ("params", "tags")
        )
        points = partial(_points_of, database, remote)
        yield MlflowRun(remote, name or "", status, started, ended, params, tags, points)


def _points_of(database: sqlite3.Connection, remote: str) -> list[tuple[str, int, float]]:
    query = "SELECT key, step, value, is_nan FROM metrics WHERE run_uuid = ? ORDER BY key, step, timestamp"
    found = database.execute(query, (remote,))
    return [(key, step, float("nan") if is_nan else value) for key, step, value, is_nan in found]
