"""Build one text per item from the columns of a table: joined by a space, or filled into a format.

    --column title --column genres                  "Heat (1995) Action|Crime"; empty cells leave no gap
    --format "{title}. Genres: {genres}"            "Heat (1995). Genres: Action|Crime"; an empty cell is empty there

An item whose cells are all empty has no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from equipoise.core.errors import ConfigError, DataError, Problem
from equipoise.core.registry import suggestion
from equipoise.data.columns import ids_of
from equipoise.features.items import Items, ItemSource, gathered, table_of

if TYPE_CHECKING:
    import polars as pl

FIX = "name the columns with --id and --column"
Piece = tuple[str, str | None]
"""The text before a column, and the column; None at the end."""


@dataclass(frozen=True)
class Wanted:
    """The column of ids, the columns of text, and the format, if any."""

    item: str
    columns: tuple[str, ...]
    template: str | None = None


def read_texts(path: Path, wanted: Wanted) -> Items[str]:
    """The text of every item of a table."""
    pieces, columns = _pieces(wanted)
    table = table_of(path, [wanted.item, *columns], FIX)
    cells = [_cells(table[name], path) for name in columns]
    rows: list[list[str]] = [list(row) for row in zip(*cells, strict=True)]
    facts = {"columns": list(columns), "format": wanted.template}
    source = ItemSource("text", str(path), facts)
    texts = [_text(row, pieces) if any(row) else None for row in rows]
    return gathered(source, ids_of(table[wanted.item], str(path)), texts, str)


def _text(cells: Sequence[str], pieces: Sequence[Piece] | None) -> str:
    if pieces is None:
        return " ".join(cell for cell in cells if cell)
    order = list(dict.fromkeys(name for _, name in pieces if name is not None))
    values = dict(zip(order, cells, strict=True))
    return "".join(before + (values[name] if name is not None else "") for before, name in pieces).strip()


def _pieces(wanted: Wanted) -> tuple[list[Piece] | None, tuple[str, ...]]:
    """The parsed format and the columns it names; without a format, the given columns."""
    if wanted.template is None:
        if not wanted.columns:
            raise ConfigError(
                [Problem("--column", "no column of text is named")], fix="--column NAME, or --format TEXT"
            )
        return None, tuple(dict.fromkeys(wanted.columns))
    try:
        parsed = list(Formatter().parse(wanted.template))
    except ValueError as error:
        raise _bad_format(f"'{wanted.template}' is not a format ({error})") from error
    names = tuple(dict.fromkeys(name for _, name, _, _ in parsed if name is not None))
    if not names or "" in names or any(spec or turn for _, _, spec, turn in parsed):
        raise _bad_format(f"'{wanted.template}' names its columns otherwise than as {{column}}")
    if wanted.columns:
        _require_same(names, wanted.columns)
    return [(before, name) for before, name, _, _ in parsed], names


def _require_same(names: tuple[str, ...], columns: tuple[str, ...]) -> None:
    """Require that the given columns are those of the format."""
    for name in names:
        if name not in columns:
            raise _bad_format(f"'{name}' is not among the columns{suggestion(name, list(columns))}")
    unused = [column for column in columns if column not in names]
    if unused:
        raise _bad_format(f"the format leaves out {', '.join(unused)}")


def _bad_format(what: str) -> ConfigError:
    return ConfigError([Problem("--format", what)], fix="as in --format '{title}. Genres: {genres}'")


def _cells(column: pl.Series, path: Path) -> list[str]:
    """Cells as stripped text; a list of texts is joined by spaces, an empty cell is ''."""
    import polars as pl

    if column.dtype == pl.List(pl.String):
        column = column.list.drop_nulls().list.join(" ")
    if not (column.dtype in (pl.String, pl.Categorical, pl.Enum) or column.dtype.is_numeric()):
        what = f"column '{column.name}' holds {column.dtype}, which is no text"
        raise DataError(what, where=str(path), fix="convert the column, or name another one with --column")
    cells: list[str] = column.cast(pl.String).fill_null("").str.strip_chars().to_list()
    return cells
