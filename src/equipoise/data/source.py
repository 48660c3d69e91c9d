"""Find the files of a set in the data folder, in any layout that its reader knows."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import DataError
from equipoise.core.values import Images

FOLDER_VARIABLE = "EQUIPOISE_DATA"
T = TypeVar("T")
Pair = tuple[Images, Images]
"""Train and test, in that order."""


@dataclass(frozen=True)
class Located(Generic[T]):
    """The files of a set in one layout, and the function that decodes them."""

    files: tuple[Path, ...]
    decode: Callable[[], T]


Found = Located[Pair]
"""Files of images."""


@dataclass(frozen=True)
class Source(Generic[T]):
    """How one set is found: `find` looks in one folder, `places` names what it looks for there."""

    name: str
    places: tuple[str, ...]
    find: Callable[[Path], Located[T] | None]


SOURCES: dict[str, Source[Any]] = {}
"""Every set that comes as files; each reader adds its own."""


def add_source(name: str, places: tuple[str, ...], find: Callable[[Path], Located[T] | None]) -> Source[T]:
    source = Source(name, places, find)
    SOURCES[name] = source
    return source


def data_folder(path: Path | None) -> Path | None:
    """The folder named on the command, otherwise that of EQUIPOISE_DATA, otherwise none."""
    given = path or os.environ.get(FOLDER_VARIABLE)
    return Path(given).expanduser() if given else None


def locate(source: Source[T], path: Path | None) -> Located[T]:
    """The files of a set, or a DataError that names every place looked at."""
    folder = data_folder(path)
    found = search(source, folder) if folder is not None else None
    if found is not None:
        return found
    if folder is None:
        where = f"no folder was given and {FOLDER_VARIABLE} is not set"
    elif not folder.is_dir():
        where = f"there is no folder {folder}"
    else:
        where = f"looked in {folder} and {folder / source.name} for {', '.join(source.places)}"
    fix = f"`equipoise data fetch {source.name}` downloads it; or set {FOLDER_VARIABLE} to the folder that holds it"
    raise DataError(f"the files of '{source.name}' were not found", where=where, fix=fix)


def search(source: Source[T], folder: Path) -> Located[T] | None:
    """The files of a set in a data folder, or in the subfolder that bears the name of the set."""
    for place in (folder, folder / source.name):
        found = source.find(place) if place.is_dir() else None
        if found is not None:
            return found
    return None


def damaged(path: Path | str, why: str) -> DataError:
    """The error for a file that exists but cannot be used."""
    fix = "the file is truncated or of another kind: delete it and get it again (`equipoise data fetch`)"
    return DataError(f"cannot use {Path(path).name}: {why}", where=str(path), fix=fix)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise damaged(path, f"it cannot be read ({error.strerror})") from error


def require(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The same files if all exist; an incomplete set is an error, never a smaller set."""
    missing = [path for path in files if not path.is_file()]
    if missing:
        names = ", ".join(path.name for path in missing)
        what = f"{len(missing)} of {len(files)} files are missing: {names}"
        raise DataError(what, where=str(missing[0].parent), fix="get the missing files, or remove the incomplete set")
    return files


def labelled(pixels: NDArray[np.uint8], labels: NDArray[np.generic], n_classes: int, path: Path | str) -> Images:
    """Images with checked labels: one per image, at least one, each below `n_classes`."""
    if len(pixels) != len(labels):
        raise damaged(path, f"expected as many labels as images, found {len(labels)} labels, {len(pixels)} images")
    if len(labels) == 0:
        raise damaged(path, "expected images, found 0")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= n_classes:
        raise damaged(path, f"expected labels 0 to {n_classes - 1}, found {low} to {high}")
    return Images(np.ascontiguousarray(pixels), labels.astype(np.int64))


def joined(parts: list[Images]) -> Images:
    return Images(np.concatenate([part.pixels for part in parts]), np.concatenate([part.labels for part in parts]))
