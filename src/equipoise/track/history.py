"""A run of another tool as it was read, before it is put into the store; and what is asked of a source.

Sources may hold anything: nothing is unpickled or run, files have a largest size, and names are cleaned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from equipoise.core.errors import DataError
from equipoise.diagnose.foreign import read_frame
from equipoise.diagnose.recording import Recording
from equipoise.store.records import Ending

LARGEST = 512 * 2**20
"""Bytes of one file that is read."""
LONGEST_NAME = 200
MOST_RUNS = 500
SCHEMA = {"step": pl.Float64, "client": pl.String, "name": pl.String, "value": pl.Float64}


@dataclass(frozen=True)
class ForeignHistory:
    """One run: its numbers as a recording, and what its tool says of it. `original` is its id there."""

    tool: str
    source: str
    original: str
    name: str
    recording: Recording
    status: Ending = "done"
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    created: str | None = None
    finished: str | None = None
    repairs: Sequence[str] = ()


@dataclass(frozen=True)
class WantedRuns:
    """What to take of a source, and how to call it."""

    name: str | None = None
    run: str | None = None
    experiment: str | None = None
    headline: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def takes(self, *labels: str) -> bool:
        """Whether a run with these ids and names is wanted."""
        return self.run is None or self.run in labels


Numbers = Sequence[tuple[float, str | None, str, float]]
"""(step, client or None, name, value)."""


def recorded(numbers: Numbers, label: str, where: str, names: Mapping[str, str]) -> tuple[Recording, list[str]]:
    """The recording of these numbers, checked like any table, and the repairs that were made."""
    if not numbers:
        raise DataError(f"run '{label}' has no numbers", where=where, fix="choose another run with --run")
    table = pl.DataFrame(list(numbers), schema=SCHEMA, orient="row")
    table = table.with_columns(pl.lit(label, dtype=pl.String).alias("run"))
    found = read_frame(table, Path(where), {}, names)
    return found.runs[0], found.repairs


def cleaned(text: str) -> str:
    """Text of any content as a name: what cannot be printed as its code, and not longer than names are.

    >>> cleaned("acc\\x00\\x1b[31m")
    'acc\\\\x00\\\\x1b[31m'
    """
    plain = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text[: 4 * LONGEST_NAME])
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 1]}…"


def require_size(path: Path, largest: int = LARGEST) -> None:
    size = path.stat().st_size
    if size > largest:
        what = f"'{path.name}' has {size / 2**20:.0f} MiB, and at most {largest / 2**20:.0f} MiB are read"
        raise DataError(what, where=str(path), fix="give a smaller part of it")


def number_of(value: Any) -> float | None:
    """A plain number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
