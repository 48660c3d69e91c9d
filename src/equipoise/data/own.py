"""Find the user's own files: a table, an archive of arrays, a folder of images.

    data.file=NAME or data.folder=NAME, below the data folder (EQUIPOISE_DATA or data.path=…), else below
    the working folder

An absolute path is refused: it means something on one machine only, and a configuration must mean the same on all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.core.errors import DataError
from equipoise.data.source import FOLDER_VARIABLE, data_folder

OWN_FILES: dict[str, Callable[[Any, Path | None], tuple[Path, ...]]] = {}
"""By the name of a set: its files, from its options and the data folder. Each reader of own files adds its own."""


@dataclass(frozen=True)
class OwnPlace:
    """What a setting names: its key, what it is called in messages, and whether it is a file or a folder."""

    key: str
    noun: str
    is_file: bool = True

    def is_there(self, path: Path) -> bool:
        return path.is_file() if self.is_file else path.is_dir()


def own_path(given: str | None, folder: Path | None, wanted: OwnPlace) -> Path:
    """The place that a setting names, below the data folder; or the data path itself, where that is a file."""
    key, noun = wanted.key, wanted.noun
    place = data_folder(folder)
    if wanted.is_file and place is not None and place.is_file():
        return place
    if given is None:
        fix = f"{key}=NAME, or data.path=…/NAME" if wanted.is_file else f"{key}=NAME; {key}=. is the data folder itself"
        raise DataError(f"no {noun} was named", where=key, fix=fix)
    if Path(given).is_absolute():
        what = f"{key}={given} is a path of this machine, and a configuration must mean the same on all"
        fix = f"name the data folder with data.path and the {noun} below it with {key}"
        raise DataError(what, where=key, fix=fix)
    places = [path / given for path in (place, Path()) if path is not None]
    for path in places:
        if wanted.is_there(path):
            return path
    unset = "" if place is not None else f"; no data folder was given and {FOLDER_VARIABLE} is not set"
    where = f"looked for {' and '.join(str(path.absolute()) for path in places)}{unset}"
    raise DataError(f"the {noun} {given} was not found", where=where, fix=f"check {key}, or name its folder: data.path")
