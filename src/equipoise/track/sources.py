"""Finds out what a source is, and reads the runs in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from equipoise.core.errors import DataError
from equipoise.diagnose.foreign import EVENTS, SUFFIXES
from equipoise.track.from_flower import flower_history, read_flower, sections_of
from equipoise.track.from_mlflow import read_database, read_folder, read_server
from equipoise.track.from_tables import event_folders, read_event_folder, read_long_table
from equipoise.track.history import ForeignHistory, WantedRuns, cleaned

PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".npy", ".npz", ".joblib", ".dill"}
DATABASES = {".db", ".sqlite", ".sqlite3"}
FIX = f"Flower's JSON, {', '.join(SUFFIXES)}, event files, an MLflow folder, database or address"
Reader = Callable[[Path, WantedRuns], list[ForeignHistory]]


def histories(source: Any, wanted: WantedRuns) -> list[ForeignHistory]:
    """The runs of a source: a path, an address, or Flower's history as an object or a mapping."""
    if isinstance(source, str) and "://" in source:
        found = _of_address(source, wanted)
    elif isinstance(source, str | Path):
        found = _reader(Path(source))(Path(source), wanted)
    else:
        found = [flower_history(sections_of(source), "flower", "an object", wanted)]
    if not found:
        what = "no run there is meant" if wanted.run or wanted.experiment else "there is no run there"
        raise DataError(what, where=cleaned(str(source)), fix="another source, --run or --experiment")
    return found


def _of_address(source: str, wanted: WantedRuns) -> list[ForeignHistory]:
    if urlsplit(source).scheme not in {"http", "https"}:
        what = f"'{urlsplit(source).scheme}://' is not an address that runs are read from"
        raise DataError(what, where="the source", fix="http:// or https:// of an MLflow server, or a path")
    return read_server(source, wanted)


def _reader(path: Path) -> Reader:
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():
        raise DataError(f"there is no file or folder '{path}'", where="the source", fix=FIX)
    kind = path.suffix.lower()
    if kind in PICKLES:
        what = f"'{path.name}' may be a pickle, and reading a pickle can run any code: it is refused"
        raise DataError(what, where=str(path), fix="write the history as JSON; see docs/howto/import-histories.md")
    if EVENTS in path.name:
        return read_event_folder
    if kind in DATABASES:
        return read_database
    return read_flower if kind == ".json" else read_long_table


def _of_folder(path: Path) -> Reader:
    if event_folders(path):
        return read_event_folder
    if any(next(path.glob(pattern), None) for pattern in ("meta.yaml", "*/meta.yaml", "*/*/meta.yaml")):
        return read_folder
    raise DataError(f"'{path}' has neither event files nor runs of MLflow", where=str(path), fix=FIX)
