"""MovieLens-1M and MovieLens-100K: who rated which film when; every rating is an interaction, whatever its stars.

As published: `ratings.dat` (user::item::rating::seconds) and `u.data` (the same, between tabs), in their folder or zip.
Packed: parquet tables; a column `time_rank` gives the order if there is one, because some moments are unknown.
Source: F. M. Harper, J. A. Konstan, "The MovieLens Datasets: History and Context", 2015. Not to be redistributed.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.columns import first_line, ids_of, parse_lines
from equipoise.data.interactions import Interactions
from equipoise.data.rows import InteractionRows, counted, interactions_of, rows_of
from equipoise.data.source import Located, Source, add_source, damaged, locate, read_bytes

if TYPE_CHECKING:
    import polars as pl

RANK = "time_rank"
UNKNOWN = -1
"""The rank of a row whose place in the history is unknown."""


@dataclass(frozen=True)
class Edition:
    """One MovieLens set: its published folder, the file in it, and the packed table."""

    name: str
    folder: str
    file: str
    packed: str
    separator: str
    columns: tuple[int, int, int]
    """Where user, item and moment are; `::` counts as two separators."""

    @property
    def member(self) -> str:
        return f"{self.folder}/{self.file}"

    @property
    def archive(self) -> str:
        return f"{self.folder}.zip"


ML_1M = Edition("movielens-1m", "ml-1m", "ratings.dat", "ml1m_ratings.parquet", ":", (0, 2, 6))
ML_100K = Edition("movielens-100k", "ml-100k", "u.data", "ml100k_ratings.parquet", "\t", (0, 1, 3))


def find(edition: Edition, folder: Path) -> Located[InteractionRows] | None:
    readers = {edition.member: _read_file, edition.archive: _read_zip, edition.packed: _read_packed}
    for place, reader in readers.items():
        path = folder / place
        if path.is_file():
            return Located((path,), partial(reader, edition, path))
    return None


def _read_file(edition: Edition, path: Path) -> InteractionRows:
    return _parse(edition, read_bytes(path), path)


def _read_zip(edition: Edition, path: Path) -> InteractionRows:
    try:
        with zipfile.ZipFile(path) as archive:
            data = archive.read(edition.member)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError) as error:
        raise damaged(path, f"it is not a whole zip file with {edition.member} ({error})") from error
    return _parse(edition, data, path)


def _parse(edition: Edition, data: bytes, path: Path) -> InteractionRows:
    users, items, seconds = parse_lines(data, edition.separator, edition.columns, str(path))
    return rows_of(users, items, seconds, seconds, str(path))


def _read_packed(edition: Edition, path: Path) -> InteractionRows:
    import polars as pl

    try:
        has_rank = RANK in pl.read_parquet_schema(path)
        names = ["user_id", "movie_id", "timestamp", *([RANK] if has_rank else [])]
        table = pl.read_parquet(path, columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        what = "it is not a whole parquet file with user_id, movie_id and timestamp"
        raise damaged(path, f"{what} ({first_line(error)})") from error
    return _packed_rows(table, str(path))


def _packed_rows(table: pl.DataFrame, where: str) -> InteractionRows:
    """Rows in order of rank if there is one, without rows that have no rank; otherwise in order of time."""
    notes = []
    if RANK in table.columns:
        known = table.filter(table[RANK] > UNKNOWN)
        if len(known) < len(table):
            left_out = counted(len(table) - len(known), "row")
            notes = [f"The reader left out {left_out} whose place in the history is unknown."]
        table = known
    elif table["timestamp"].null_count():
        what = f"{table['timestamp'].null_count()} of {len(table)} rows have neither a moment nor a rank"
        raise DataError(what, where=where, fix=f"a table with a column {RANK}, or the original files")
    seconds = table["timestamp"].cast(float).fill_null(np.nan).to_numpy()
    order = table[RANK].to_numpy() if RANK in table.columns else seconds
    return rows_of(ids_of(table["user_id"], where), ids_of(table["movie_id"], where), order, seconds, where, *notes)


def _source(edition: Edition) -> Source[InteractionRows]:
    return add_source(edition.name, (edition.member, edition.archive, edition.packed), partial(find, edition))


_SOURCE_1M, _SOURCE_100K = _source(ML_1M), _source(ML_100K)


@DATASETS.register("movielens-1m", aliases=("ml-1m", "ml1m"), options=InteractionOptions)
def movielens_1m(options: InteractionOptions, folder: Path | None) -> Interactions:
    return interactions_of("movielens-1m", locate(_SOURCE_1M, folder).decode(), options)


@DATASETS.register("movielens-100k", aliases=("ml-100k", "ml100k"), options=InteractionOptions)
def movielens_100k(options: InteractionOptions, folder: Path | None) -> Interactions:
    return interactions_of("movielens-100k", locate(_SOURCE_100K, folder).decode(), options)
