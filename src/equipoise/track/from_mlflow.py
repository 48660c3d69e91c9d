"""Reads runs of MLflow: `client_3/lam` is client 3's `lam`, other metrics are the server's.

The parameters of a run that Equipoise sent there are its configuration again, and a tag has its facts. Parameters of
others are kept as settings; those that we know by another name, such as `lr`, get ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from equipoise.config.aliases import CANONICAL
from equipoise.core.errors import DataError
from equipoise.diagnose.tensorboard import client_and_name
from equipoise.store.records import Ending
from equipoise.track.feed import reason
from equipoise.track.history import MOST_RUNS, ForeignHistory, WantedRuns, cleaned, recorded
from equipoise.track.mlflow_runs import MlflowRun, of_database, of_folder, of_server
from equipoise.track.to_mlflow import FACTS_TAG, RUN_TAG, client_of, ours, without_password

ENDINGS: dict[str, Ending] = {"FINISHED": "done", "FAILED": "failed", "KILLED": "stopped"}
LARGEST_NUMBER = 1.7976931348623157e308
"""What MLflow keeps of an infinity."""


def read_server(uri: str, wanted: WantedRuns) -> list[ForeignHistory]:
    where = without_password(uri)
    try:
        return _histories(of_server(client_of(uri), wanted), where, wanted)
    except DataError:
        raise
    except ImportError:
        raise
    except Exception as error:  # MLflow's client raises what it likes
        fix = "give the address of an MLflow server; a password comes from MLFLOW_TRACKING_USERNAME and …_PASSWORD"
        raise DataError(f"the server cannot be read: {reason(error)}", where=where, fix=fix) from error


def read_folder(path: Path, wanted: WantedRuns) -> list[ForeignHistory]:
    return _histories(of_folder(path, wanted), str(path), wanted)


def read_database(path: Path, wanted: WantedRuns) -> list[ForeignHistory]:
    return _histories(of_database(path, wanted), str(path), wanted)


def _histories(runs: Iterable[MlflowRun], where: str, wanted: WantedRuns) -> list[ForeignHistory]:
    chosen = (run for run in runs if wanted.takes(run.remote, run.name))
    found = [_history(run, where, wanted) for run in islice(chosen, MOST_RUNS + 1)]
    if len(found) > MOST_RUNS:
        what = f"there are more than {MOST_RUNS} runs, and at most so many are read at once"
        raise DataError(what, where=where, fix="name one with --run, or an experiment with --experiment")
    return found


def _history(run: MlflowRun, where: str, wanted: WantedRuns) -> ForeignHistory:
    label = cleaned(run.name or run.remote)
    numbers = []
    for metric, step, value in run.points():
        client, name = client_and_name(ours(metric))
        is_infinite = abs(value) >= LARGEST_NUMBER
        numbers.append((float(step), client, cleaned(name), float("inf") * value if is_infinite else value))
    recording, repairs = recorded(numbers, label, where, wanted.names)
    if run.status not in ENDINGS:
        repairs.append(f"MLflow says {cleaned(run.status)}: taken as stopped")
    return ForeignHistory(
        tool="mlflow",
        source=where,
        original=run.remote,
        name=cleaned(run.tags.get(RUN_TAG) or label),
        recording=recording,
        status=ENDINGS.get(run.status, "stopped"),
        settings={_ours_of(key): plain(text) for key, text in run.params.items()},
        facts=_facts(run.tags.get(FACTS_TAG)),
        created=_time(run.started),
        finished=_time(run.ended),
        repairs=repairs,
    )


def _ours_of(key: str) -> str:
    name = cleaned(ours(key))
    return CANONICAL.get(name, name)


def plain(text: str) -> Any:
    """A parameter's text as a number, a truth value, or text.

    >>> plain("0.05"), plain("True"), plain("cnn")
    (0.05, True, 'cnn')
    """
    if text in {"True", "False"}:
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return cleaned(text)


def _facts(text: str | None) -> dict[str, Any]:
    """The facts in our tag; only plain values."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {cleaned(key): value for key, value in pairs if isinstance(value, str | int | float | bool)}


def _time(milliseconds: int | None) -> str | None:
    if not milliseconds:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="microseconds")
    except (OverflowError, OSError, ValueError):
        return None
