"""Read columns of CSV and Parquet tables as arrays: ids (whole numbers or text) and times.

polars is imported where it is used: checking a configuration reads no table.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import DataError
from equipoise.core.registry import suggestion
from equipoise.data.interactions import Ids
from equipoise.data.source import damaged

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = {".parquet", ".pq"}
WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins."""
_WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"
_FRACTION = r"^-?[0-9]+\.[0-9]*$"


def read_table(path: Path, names: list[str]) -> pl.DataFrame:
    """These columns of a CSV, TSV or Parquet file; everything in a text file is read as text."""
    import polars as pl

    separator = SEPARATORS.get(path.suffix)
    if separator is None and path.suffix not in PARQUET:
        known = ", ".join([*SEPARATORS, *sorted(PARQUET)])
        raise DataError(f"{path.name} is none of {known}", where=str(path), fix="save the table as one of these")
    try:
        if separator is None:
            _require(names, pl.read_parquet_schema(path), path)
            return pl.read_parquet(path, columns=names)
        _require_text(path)
        _require(names, pl.read_csv(path, separator=separator, n_rows=0).columns, path)
        return pl.read_csv(path, separator=separator, columns=names, infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        what = f"cannot use {path.name}: it is not a whole {path.suffix[1:]} file ({first_line(error)})"
        raise DataError(
            what, where=str(path), fix="the file is truncated or of another kind: write it again"
        ) from error


def first_line(error: BaseException) -> str:
    """The first line of a polars error, without the query plan."""
    return str(error).split("\n", 1)[0]


def _require_text(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(2) in WIDE:
            raise DataError(f"{path.name} is written in UTF-16", where=str(path), fix="save it as UTF-8")


def _require(names: list[str], there: Any, path: Path) -> None:
    header, missing = list(there), [name for name in names if name not in there]
    if missing and len(header) == 1 and any(mark in header[0] for mark in ";|\t,"):
        what = f"the header of {path.name} is one column, '{header[0]}': something else separates its columns"
        raise DataError(what, where=str(path), fix="separate columns by commas in .csv and by tabs in .tsv")
    for name in missing:
        what = f"there is no column '{name}' in {path.name}{suggestion(name, header)}"
        raise DataError(what, where=str(path), fix="name the columns with data.user, data.item and data.time")


def parse_lines(data: bytes, separator: str, places: Sequence[int], where: str) -> list[NDArray[np.int64]]:
    """The whole numbers in these columns of each line."""
    import polars as pl

    try:
        table = pl.read_csv(
            io.BytesIO(data), has_header=False, separator=separator, columns=list(places), quote_char=None,
            infer_schema=False, encoding="utf8-lossy",
        )  # fmt: skip
        columns = [table[name].cast(pl.Int64) for name in table.columns]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise damaged(where, f"expected whole numbers in every line ({first_line(error)})") from error
    n_null = sum(column.null_count() for column in columns)
    if n_null:
        raise damaged(where, f"expected {len(places)} numbers in every line, found {n_null} empty ones")
    return [column.to_numpy() for column in columns]


def ids_of(column: pl.Series, where: str) -> Ids:
    """Whole numbers as int64, anything else as text; text that is a whole number in every row counts as one."""
    import polars as pl

    if column.null_count():
        what = f"{column.null_count()} of {len(column)} rows have no {column.name}"
        raise DataError(what, where=where, fix="remove these rows, or fill them in")
    if column.dtype.is_integer():
        return column.cast(pl.Int64).to_numpy()
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        what = f"column '{column.name}' holds {column.dtype}; ids are whole numbers or text"
        raise DataError(what, where=where, fix="convert the column, or name another one")
    text = column.cast(pl.String)
    if text.str.contains(_WHOLE_NUMBER).all():
        return text.cast(pl.Int64).to_numpy()
    if text.str.contains(_FRACTION).all():
        what = f"column '{column.name}' holds numbers with a fraction, as in '{text[0]}'; ids are whole numbers or text"
        raise DataError(what, where=where, fix="write whole numbers: a column with gaps becomes a fraction in pandas")
    return text.to_numpy().astype(np.str_)


def moments_of(column: pl.Series, where: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The sort key of each row, and the same in seconds: a number as it is, a date or time since 1970."""
    import polars as pl

    read = _read_text(column, where) if column.dtype == pl.String else column
    if read.dtype in (pl.Date, pl.Datetime):
        read = read.cast(pl.Datetime("us")).dt.timestamp("us")
        _require_order(read.is_null(), column.name, where)
        return read.to_numpy(), read.to_numpy() / 1e6
    is_number = read.dtype.is_numeric()
    _require_order(~read.is_finite().fill_null(False) if is_number else read.is_null() | True, column.name, where)
    return read.to_numpy(), read.to_numpy().astype(np.float64)


def _require_order(is_missing: pl.Series, name: str, where: str) -> None:
    if is_missing.any():
        what = f"{is_missing.sum()} of {len(is_missing)} rows have no usable {name}, so their order is unknown"
        fix = "data.time must name a column of numbers, dates or ranks; remove the rows that have none"
        raise DataError(what, where=where, fix=fix)


def _read_text(column: pl.Series, where: str) -> pl.Series:
    """Parse text as whole numbers, numbers or ISO dates: the first type that parses every row."""
    import polars as pl

    for kind in (pl.Int64, pl.Float64, pl.Datetime):
        try:
            dates = kind == pl.Datetime
            read = column.str.to_datetime(strict=False, time_unit="us") if dates else column.cast(kind, strict=False)
        except pl.exceptions.PolarsError:
            continue  # no format of date was found in the whole column
        if read.null_count() == column.null_count():
            return read
    bad = column.filter(column.cast(pl.Float64, strict=False).is_null() & column.is_not_null())
    what = f"column '{column.name}' holds neither numbers nor dates, as in '{bad[0]}'"
    raise DataError(what, where=where, fix="write times as numbers or as 2024-05-31T12:00:00, or name another column")
