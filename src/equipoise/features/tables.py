"""Read tables of item features: a matrix with one row per item, and the ids of the rows.

    .npz, .safetensors   a 2-axis array, and a 1-axis array called like one of ID_NAMES; without it, row i is item i
    .parquet             a column of lists of one length, and a column called like one of ID_NAMES

A setting is FILE, or FILE/NAME where a file holds several matrices. Row lengths are left as they are.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import DataError
from equipoise.core.registry import suggestion
from equipoise.data.columns import first_line, ids_of
from equipoise.data.interactions import Ids
from equipoise.data.source import FOLDER_VARIABLE, data_folder, read_bytes
from equipoise.features.lift import Matrix

ID_NAMES = ("item_id", "movie_id", "item", "id", "ids")
KINDS = (".npz", ".safetensors", ".parquet", ".pq")


@dataclass(frozen=True)
class FeatureTable:
    """Raw rows [rows, width] and their ids; None if row i belongs to item i."""

    rows: Matrix
    ids: Ids | None
    where: str


def read_features(setting: str, folder: Path | None) -> FeatureTable:
    """The table that FILE or FILE/NAME names in the data folder."""
    path, name = find_table(setting, folder)
    arrays = _read_parquet(path) if path.suffix in {".parquet", ".pq"} else _read_arrays(path)
    chosen = _chosen(arrays, name, path)
    rows, ids = arrays[chosen], _ids(arrays, len(arrays[chosen]), path)
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and the check refuses it
        return FeatureTable(rows.astype(np.float32), ids, f"{path}, {chosen}")


def _ids(arrays: Mapping[str, NDArray[Any]], n_rows: int, path: Path) -> Ids | None:
    """One id per row; None if the file has no list of ids."""
    lists = [key for key, array in arrays.items() if array.ndim == 1]
    keys = [key for key in ID_NAMES if key in lists and arrays[key].dtype.kind in "iuU"]
    if not keys and lists:
        what = f"{path.name} has no ids called {' or '.join(ID_NAMES)}, but {', '.join(lists)}"
        raise DataError(what, where=str(path), fix="call the ids, whole numbers or text, item_id")
    if not keys:
        return None
    ids, n_ids = arrays[keys[0]], len(arrays[keys[0]])
    if n_ids != n_rows:
        what = f"'{keys[0]}' of {path.name} names {n_ids} rows, and there are {n_rows}"
        raise DataError(what, where=str(path), fix="write ids and features of the same items, in the same order")
    n_twice = n_ids - len(np.unique(ids))
    if n_twice:
        what = f"{n_twice} of {n_ids} ids in '{keys[0]}' of {path.name} stand there twice"
        raise DataError(what, where=str(path), fix="keep one row per item")
    return ids


def find_table(setting: str, folder: Path | None) -> tuple[Path, str | None]:
    """The file, and the name after it if there is one."""
    place = data_folder(folder)
    if Path(setting).is_absolute() or place is None:
        why = "is a path of this machine" if place is not None else f"needs a folder, and {FOLDER_VARIABLE} is not set"
        raise DataError(f"the feature table {setting} {why}", where=setting, fix="name the folder with data.path")
    base = place.parent if place.is_file() else place
    whole, (head, _, name) = base / setting, setting.rpartition("/")
    if whole.is_file():
        return _known_kind(whole), None
    if head and (base / head).is_file():
        return _known_kind(base / head), name
    looked = f"looked for {whole}" + (f" and {base / head}" if head else "")
    what = f"the feature table {setting} was not found; nothing takes its place"
    raise DataError(what, where=looked, fix="write the file there, or leave data.visual or data.text out")


def _known_kind(path: Path) -> Path:
    if path.suffix not in KINDS:
        raise DataError(f"{path.name} is none of {', '.join(KINDS)}", where=str(path), fix="save it as one of these")
    return path


def _chosen(arrays: Mapping[str, NDArray[Any]], name: str | None, path: Path) -> str:
    """The named matrix, or the only one in the file."""
    matrices = [key for key, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    if name is not None and name not in matrices:
        what = f"{path.name} holds no matrix '{name}'{suggestion(name, matrices)}"
        raise DataError(what, where=str(path), fix="name one that is there, as FILE/NAME")
    if name is None and len(matrices) != 1:
        what = f"{path.name} holds {len(matrices)} matrices: {', '.join(matrices) or 'none'}"
        raise DataError(what, where=str(path), fix="name one of them, as FILE/NAME")
    chosen = name or matrices[0]
    if arrays[chosen].shape[1] < 2:
        what = f"'{chosen}' of {path.name} has {arrays[chosen].shape[1]} column; features have a direction"
        raise DataError(what, where=str(path), fix="a matrix of two columns or more")
    return chosen


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = read_bytes(path)
    try:
        if path.suffix == ".safetensors":
            return dict(load(data))
        with np.load(io.BytesIO(data), allow_pickle=False) as content:
            return {key: _plain(content, key, path) for key in content.files}
    except (SafetensorError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _unreadable(path, error) from error


def _plain(content: Mapping[str, NDArray[Any]], key: str, path: Path) -> NDArray[Any]:
    """An array of numbers or text; an array of Python objects could run any code when read."""
    try:
        return content[key]
    except ValueError as error:
        if "Object arrays" not in str(error):
            raise
        what = f"'{key}' of {path.name} holds Python objects, which are not read"
        fix = "write text as np.asarray(ids, dtype=str), numbers as int64"
        raise DataError(what, where=str(path), fix=fix) from error


def _read_parquet(path: Path) -> dict[str, NDArray[Any]]:
    import polars as pl

    try:
        table = pl.read_parquet(path)
        lists = [name for name, kind in table.schema.items() if kind in (pl.List, pl.Array)]
        arrays = {name: _matrix(table[name], path) for name in lists}
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(path, error) from error
    ids = {name: ids_of(table[name], str(path)) for name in ID_NAMES if name in table.columns}
    if not ids:
        what = f"{path.name} has no ids called {' or '.join(ID_NAMES)}, but {', '.join(table.columns)}"
        raise DataError(what, where=str(path), fix="call the ids, whole numbers or text, item_id")
    return {**arrays, **ids}


def _matrix(column: Any, path: Path) -> NDArray[Any]:
    """A column of lists as a matrix; None if lengths differ or values are missing."""
    import polars as pl

    lengths = column.arr.len() if column.dtype == pl.Array else column.list.len()
    if column.null_count() or lengths.n_unique() != 1 or column.explode().null_count():
        what = f"column '{column.name}' has empty cells, or lists of {lengths.n_unique()} different lengths"
        raise DataError(what, where=str(path), fix="one list per item, all of one length")
    flat: NDArray[Any] = column.explode().to_numpy()
    return flat.reshape(len(column), -1)


def _unreadable(path: Path, error: BaseException) -> DataError:
    what = f"cannot use {path.name}: it is not a whole {path.suffix[1:]} file ({first_line(error)})"
    return DataError(what, where=str(path), fix="the file is truncated or of another kind: write it again")
