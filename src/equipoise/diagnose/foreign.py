"""Another framework's numbers: a long table `run, step, round, client, name, value` as CSV, JSON lines or Parquet.

Only `name` and `value` must be there, and `step` or `round`. An empty client is the server. What can be put right is
put right and said; everything else is an error that names the line.
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
from equipoise.diagnose.recording import SERVER, Recording, recording

COLUMNS = ("run", "step", "round", "client", "name", "value")
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "json lines", ".ndjson": "json lines", ".parquet": "Parquet"}
EVENTS = "tfevents"
LINES = {".jsonl", ".ndjson"}
NO_CLIENT = ("", "server", "global", "none", "null", "nan")
NO_NUMBER = ("", "nan")


@dataclass(frozen=True)
class Foreign:
    """The runs of a table, and what was put right on the way."""

    runs: list[Recording]
    repairs: list[str] = field(default_factory=list)


def read_table(path: Path, facts: Mapping[str, Any], names: Mapping[str, str]) -> Foreign:
    """The runs in a file; `names` renames metrics, theirs to ours."""
    if not path.is_file():
        raise DataError(f"there is no file '{path}'", fix="give a run id, or a file of telemetry")
    return read_frame(_load(path), path, facts, names)


def read_frame(table: pl.DataFrame, path: Path, facts: Mapping[str, Any], names: Mapping[str, str]) -> Foreign:
    """The runs in a table that was read from `path`, or is called so."""
    repairs: list[str] = []
    table = _checked(_renamed(table, path), path, repairs)
    if names:
        table = table.with_columns(pl.col("name").replace(dict(names)))
    table = _once(table, repairs)
    labels = table["run"].unique(maintain_order=True).to_list()
    return Foreign([_recording(table.filter(pl.col("run") == label), label, facts) for label in labels], repairs)


def read_names(path: Path) -> dict[str, str]:
    """A mapping of metric names, theirs to ours, from a YAML file."""
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
    """Whether a word on the command line is a file rather than a run."""
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
    """What is wrong with a file that cannot be read; with the line where that can be found out."""
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


def _renamed(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The columns we know, under their names whatever the case; those that are not there are empty."""
    found = {column.strip().strip("\ufeff").lower(): column for column in table.columns}
    if "name" not in found and "metric" in found:
        found["name"] = found["metric"]
    missing = [column for column in ("name", "value") if column not in found]
    if "step" not in found and "round" not in found:
        missing.append("step (or round)")
    if missing:
        what = f"the table has no column {', '.join(missing)}; it has {', '.join(table.columns[:12])}"
        raise DataError(what, where=f"{path}, line 1", fix=f"a long table: {', '.join(COLUMNS)}")
    step = found.get("step", found.get("round"))
    picked = {**{column: found.get(column) for column in ("run", "client", "name", "value")}, "step": step}
    nested = [source for source in picked.values() if source is not None and table.schema[source].is_nested()]
    if nested:
        what = f"column {', '.join(nested)} holds lists or objects, not one value a row"
        raise DataError(what, where=str(path), fix=f"a long table: {', '.join(COLUMNS)}")
    columns = [_column(table, source, column) for column, source in picked.items()]
    return pl.DataFrame(columns).with_row_index("line", offset=1 if path.suffix.lower() in LINES else 2)


def _column(table: pl.DataFrame, source: str | None, name: str) -> pl.Series:
    """Numbers as they are where numbers are wanted, everything else as text without blanks around it."""
    if source is None:
        return pl.Series(name, [None] * len(table), dtype=pl.String)
    column = table[source].alias(name)
    if name in {"client", "value", "step"} and column.dtype.is_numeric():
        return column.cast(pl.Float64)
    return column.cast(pl.String, strict=False).str.strip_chars()


def _checked(table: pl.DataFrame, path: Path, repairs: list[str]) -> pl.DataFrame:
    blank = table["name"].is_null() & table["value"].is_null()
    if blank.any():
        table = table.filter(~blank)
        repairs.append(f"{int(blank.sum())} empty rows left out")
    if table.is_empty():
        raise DataError("the table has no rows", where=str(path), fix="give a table with rows")
    _require(table, table["name"].is_null() | (table["name"] == ""), "has no name", path)
    value, step, client = (_numbers(table[column]) for column in ("value", "step", "client"))
    _require(
        table, value.is_null() & ~_says(table["value"], NO_NUMBER), "has a value that is not a number", path, "value"
    )
    _require(table, step.is_null(), "has no step", path, "step")
    _require(table, ~_is_count(step), "has a step that is not a whole number from 0 on", path, "step")
    is_server = _says(table["client"], NO_CLIENT)
    _require(
        table, ~is_server & ~_is_count(client), "has a client that is not a whole number from 0 on", path, "client"
    )
    return pl.DataFrame(
        {
            "run": table["run"].fill_null(path.stem),
            "name": table["name"],
            "value": value.fill_null(float("nan")),
            "step": step.cast(pl.Int64),
            "client": client.set(is_server, float(SERVER)).cast(pl.Int64),
        }
    )


def _numbers(column: pl.Series) -> pl.Series:
    """As numbers; null where there is none."""
    return column if column.dtype == pl.Float64 else column.cast(pl.Float64, strict=False)


def _is_count(numbers: pl.Series) -> pl.Series:
    """Which of them are whole, from 0 on; a double holds no larger ones exactly."""
    return ((numbers >= 0) & (numbers == numbers.floor()) & (numbers < 2**53)).fill_null(False)


def _says(column: pl.Series, words: tuple[str, ...]) -> pl.Series:
    """Where nothing is said, or one of these words."""
    if column.dtype == pl.Float64:
        return column.is_null() | column.is_nan().fill_null(False)
    return column.is_null() | column.str.to_lowercase().is_in(words)


def _require(table: pl.DataFrame, bad: pl.Series, what: str, path: Path, column: str | None = None) -> None:
    bad = bad.fill_null(False)
    if not bad.any():
        return
    first = table.filter(bad).row(0, named=True)
    value = f": {first[column]!r}" if column else ""
    more = f" (and {int(bad.sum()) - 1} more lines)" if bad.sum() > 1 else ""
    raise DataError(f"line {first['line']} {what}{value}{more}", where=str(path), fix=f"columns: {', '.join(COLUMNS)}")


def _once(table: pl.DataFrame, repairs: list[str]) -> pl.DataFrame:
    """One row for each run, client, name and step: the same row twice is one, two different ones are the last."""
    key = ["run", "client", "name", "step"]
    unique = table.unique(key, keep="last", maintain_order=True)
    if extra := len(table) - len(unique):
        differ = len(table.unique([*key, "value"])) - len(unique)
        repairs.append(
            f"{extra} rows repeat a run, client, name and step; {differ} of them with another value: the last stands"
        )
    return unique


def _recording(table: pl.DataFrame, label: str, facts: Mapping[str, Any]) -> Recording:
    names = table["name"].unique().sort()
    which = table["name"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.intp)
    numbers = (table[column].to_numpy() for column in ("client", "step", "value"))
    return recording(label, names.to_list(), which, *numbers, facts=dict(facts))


def parse_facts(words: list[str]) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """`classes=10` is a fact, `lr-cut.low=0.1` a limit."""
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
