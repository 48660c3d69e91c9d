"""Reads another framework's numbers: a long table `run, step, round, client, name, value`.

The file is CSV, TSV, JSON lines, Parquet or a TensorBoard event file. Required columns are `name`, `value`, and `step`
or `round`. A row without a client belongs to the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from equipoise.core.errors import ConfigError, DataError
from equipoise.diagnose.long_table import LINES, checked, renamed, without_repeats
from equipoise.diagnose.recording import Recording, recording

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "json lines", ".ndjson": "json lines", ".parquet": "Parquet"}
EVENTS = "tfevents"


@dataclass(frozen=True)
class ForeignRuns:
    """The runs of a table, and the repairs that were made while reading it."""

    runs: list[Recording]
    repairs: list[str] = field(default_factory=list)


def read_table(path: Path, facts: Mapping[str, Any], names: Mapping[str, str]) -> ForeignRuns:
    """Reads the runs of a file; `names` maps their metric names to ours."""
    if not path.is_file():
        raise DataError(f"there is no file '{path}'", fix="give a run id, or a file of telemetry")
    return read_frame(_load(path), path, facts, names)


def read_frame(table: pl.DataFrame, path: Path, facts: Mapping[str, Any], names: Mapping[str, str]) -> ForeignRuns:
    """The runs in a table that was read from `path`, or is called so."""
    repairs: list[str] = []
    table = checked(renamed(table, path), path, repairs)
    if names:
        table = table.with_columns(pl.col("name").replace(dict(names)))
    table = without_repeats(table, repairs)
    labels = table["run"].unique(maintain_order=True).to_list()
    return ForeignRuns([_recording(table.filter(pl.col("run") == label), label, facts) for label in labels], repairs)


def read_names(path: Path) -> dict[str, str]:
    """Reads a mapping of metric names, theirs to ours, from a YAML file."""
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        what = f"'{path}' cannot be read: {str(error).splitlines()[0]}"
        raise ConfigError(what, fix="a YAML file of lines `theirs: ours`") from None
    if not isinstance(found, dict) or not all(isinstance(word, str) for pair in found.items() for word in pair):
        raise ConfigError(f"'{path}' is not a mapping of names", fix="a YAML file of lines `theirs: ours`")
    return found


def is_telemetry(query: str) -> bool:
    """Whether an argument of the command names a file rather than a run."""
    path = Path(query)
    return path.suffix.lower() in SUFFIXES or EVENTS in path.name or path.is_dir() or path.is_file()


def _load(path: Path) -> pl.DataFrame:
    kind = path.suffix.lower()
    if EVENTS in path.name:
        from equipoise.diagnose.tensorboard import read_events

        return read_events(path)
    if kind not in SUFFIXES:
        what = f"'{path.name}' is not a table that can be read"
        raise DataError(what, where=str(path), fix=f"one of {', '.join(SUFFIXES)}, or a TensorBoard event file")
    if path.stat().st_size == 0:
        raise DataError(f"'{path.name}' is empty", where=str(path), fix="give a table with a header and rows")
    try:
        if kind == ".parquet":
            return pl.read_parquet(path)
        if kind in LINES:
            return pl.read_ndjson(path, infer_schema_length=None)
        return pl.read_csv(path, separator="\t" if kind == ".tsv" else ",", infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError, ValueError) as error:
        raise DataError(_what(path, kind, error), where=str(path), fix="check the file") from None


def _what(path: Path, kind: str, error: Exception) -> str:
    """Describes why a file cannot be read, with the line number if it is known."""
    if kind in LINES:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    is_row = not line.strip() or isinstance(json.loads(line), dict)
                except ValueError:
                    is_row = False
                if not is_row:
                    return f"line {number} is not a JSON object"
    return f"'{path.name}' is not {SUFFIXES[kind]}: {str(error).splitlines()[0]}"


def _recording(table: pl.DataFrame, label: str, facts: Mapping[str, Any]) -> Recording:
    names = table["name"].unique().sort()
    which = table["name"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.intp)
    numbers = (table[column].to_numpy() for column in ("client", "step", "value"))
    return recording(label, names.to_list(), which, *numbers, facts=dict(facts))


def parse_facts(words: list[str]) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Parses `--set` arguments: `classes=10` is a fact, `lr-cut.low=0.1` a limit."""
    facts: dict[str, Any] = {}
    changes: dict[str, dict[str, float]] = {}
    for word in words:
        key, mark, text = word.partition("=")
        if not mark or not key:
            raise ConfigError(
                f"expected name=value, got '{word}'", fix="as in --set classes=10 or --set lr-cut.low=0.1"
            )
        code, dot, limit = key.partition(".")
        if dot:
            try:
                changes.setdefault(code, {})[limit] = float(text)
            except ValueError:
                raise ConfigError(f"{key}: expected a number, got '{text}'") from None
        else:
            facts[key] = _plain(text)
    return facts, changes


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
