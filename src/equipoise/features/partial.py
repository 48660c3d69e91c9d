"""Store encoded rows beside the output until it is complete, so that a killed command can resume.

    OUT.partial/facts.json        which encoder, which ids, which texts or pictures
    OUT.partial/000000512.npz     the group that begins with item 512: what became of each, and the rows of those kept

Every file is written under a temporary name, flushed and renamed, so a group is complete or absent. Each is written
once.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import DataError
from equipoise.features.lift import Matrix

KEPT, DAMAGED, ZERO = 0, 1, 2
"""The outcome for an item: it has a row, it could not be read, or its row is zero."""
DIFFERENT = {
    "encoder": "another encoder",
    "weights": "an encoder of that name with other weights",
    "ids": "another list of ids",
    "content": "other texts or pictures, or other columns",
}


@dataclass(frozen=True)
class Group:
    """The outcome for each item of a group, and one row for each that was kept."""

    status: NDArray[np.uint8]
    rows: Matrix


def partial_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.partial")


def begin(folder: Path, facts: Mapping[str, str]) -> None:
    """Make the folder, or continue with one that has the same facts."""
    file = folder / "facts.json"
    if folder.exists():
        _require_same(_facts(folder), facts, folder)
        return
    made = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        made.mkdir()
        write_whole(made / file.name, lambda opened: opened.write(json.dumps(dict(facts), indent=2).encode()))
        os.rename(made, folder)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise unwritable(folder, error) from error


def _facts(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / "facts.json").read_bytes())
    except (OSError, ValueError) as error:
        what = f"{folder.name} is in the way: it was not begun by this command, or is damaged"
        raise DataError(what, where=str(folder), fix="move it away or delete it") from error
    return found if isinstance(found, dict) else {}


def _require_same(found: Mapping[str, str], facts: Mapping[str, str], folder: Path) -> None:
    for key, words in DIFFERENT.items():
        if found.get(key) != facts[key]:
            values = f": {found.get(key)}, and now it is {facts[key]}" if key == "encoder" else ""
            what = f"{folder.name} was begun with {words}{values}"
            fix = f"give the command as it was begun, or delete {folder.name} to begin anew"
            raise DataError(what, where=str(folder), fix=fix)


def groups(folder: Path) -> list[Group]:
    """The stored groups in order; a gap or a damaged file is an error."""
    found: list[Group] = []
    at = 0
    for path in sorted(folder.glob("[0-9]*.npz")):
        try:
            with np.load(path, allow_pickle=False) as content:
                group = Group(content["status"], content["rows"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise _broken(folder, f"{path.name} is damaged") from error
        if path.stem != f"{at:09d}" or int((group.status == KEPT).sum()) != len(group.rows):
            raise _broken(folder, f"{path.name} does not follow what is before it")
        found.append(group)
        at += len(group.status)
    return found


def _broken(folder: Path, what: str) -> DataError:
    return DataError(f"{folder.name} cannot be continued: {what}", where=str(folder), fix=f"delete {folder.name}")


def add(folder: Path, start: int, group: Group) -> None:
    save_arrays(folder / f"{start:09d}.npz", {"status": group.status, "rows": group.rows})


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def save_arrays(path: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write an npz atomically."""
    try:
        write_whole(path, lambda opened: np.savez(opened, allow_pickle=False, **arrays))
    except OSError as error:
        raise unwritable(path, error) from error


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file, flush it to disk, and rename it."""
    part = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with part.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> DataError:
    what = f"cannot write {path.name}: {error.strerror or error}"
    return DataError(what, where=str(path.parent), fix="free the disk or choose a folder that can be written")
