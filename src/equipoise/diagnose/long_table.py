"""Checks a long table of another framework: columns, types, and one row per run, client, name and step.

Harmless faults are repaired, and each repair is reported. Other faults are errors that name the line.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from equipoise.core.errors import DataError
from equipoise.diagnose.recording import SERVER

COLUMNS = ("run", "step", "round", "client", "name", "value")
LINES = {".jsonl", ".ndjson"}
"""Suffixes of JSON lines, which have no header."""
NO_CLIENT = ("", "server", "global", "none", "null", "nan")
NO_NUMBER = ("", "nan")


def renamed(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The known columns under our names, whatever their case; missing optional columns are empty."""
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
    """Numeric columns stay numeric where numbers are expected; everything else becomes stripped text."""
    if source is None:
        return pl.Series(name, [None] * len(table), dtype=pl.String)
    column = table[source].alias(name)
    if name in {"client", "value", "step"} and column.dtype.is_numeric():
        return column.cast(pl.Float64)
    return column.cast(pl.String, strict=False).str.strip_chars()


def checked(table: pl.DataFrame, path: Path, repairs: list[str]) -> pl.DataFrame:
    """The table with checked types; a wrong cell is an error that names its line."""
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
    """The column as numbers; null where a cell is no number."""
    return column if column.dtype == pl.Float64 else column.cast(pl.Float64, strict=False)


def _is_count(numbers: pl.Series) -> pl.Series:
    """Which numbers are whole, from 0 to the largest that a double holds exactly."""
    return ((numbers >= 0) & (numbers == numbers.floor()) & (numbers < 2**53)).fill_null(False)


def _says(column: pl.Series, words: tuple[str, ...]) -> pl.Series:
    """Which cells are empty or hold one of these words."""
    if column.dtype == pl.Float64:
        return column.is_null() | column.is_nan().fill_null(False)
    return column.is_null() | column.str.to_lowercase().is_in(words)


def _require(table: pl.DataFrame, bad: pl.Series, what: str, path: Path, column: str | None = None) -> None:
    """Raises an error for the first bad row."""
    bad = bad.fill_null(False)
    if not bad.any():
        return
    first = table.filter(bad).row(0, named=True)
    value = f": {first[column]!r}" if column else ""
    more = f" (and {int(bad.sum()) - 1} more lines)" if bad.sum() > 1 else ""
    raise DataError(f"line {first['line']} {what}{value}{more}", where=str(path), fix=f"columns: {', '.join(COLUMNS)}")


def without_repeats(table: pl.DataFrame, repairs: list[str]) -> pl.DataFrame:
    """One row per run, client, name and step; of repeated rows the last one counts."""
    key = ["run", "client", "name", "step"]
    unique = table.unique(key, keep="last", maintain_order=True)
    if extra := len(table) - len(unique):
        differ = len(table.unique([*key, "value"])) - len(unique)
        repairs.append(
            f"{extra} rows repeat a run, client, name and step; {differ} of them with another value: the last stands"
        )
    return unique
