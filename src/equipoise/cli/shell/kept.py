"""Keeps the table in the cache folder. It is computed again when the code, or what is installed, has changed.

    stamp = sha256(version, newest change of our files, newest change of every folder that Python searches)

Where the cache cannot be written, the table is computed at every TAB, which takes a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import equipoise
from equipoise.cli.shell.table import SECTIONS, Table, computed

FILE = "completion.json"


def table() -> Table:
    """The table of the cache if it is this code's, otherwise a new one."""
    path, now = folder() / FILE, stamp()
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = None
    if isinstance(kept, dict) and kept.get("stamp") == now and kept.keys() >= set(SECTIONS):
        return kept
    made = computed()
    _keep(path, {"stamp": now, **made})
    return made


def folder() -> Path:
    """That of decoded images, named without loading what decodes them."""
    given = os.environ.get("EQUIPOISE_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "equipoise"


def stamp() -> str:
    searched = [Path(place) for place in sys.path if place and os.path.isdir(place)]
    times = [max(_times(Path(equipoise.__file__).parent)), *(place.stat().st_mtime_ns for place in searched)]
    text = json.dumps([equipoise.__version__, equipoise.__file__, times, list(map(str, searched))])
    return hashlib.sha256(text.encode()).hexdigest()


def _times(place: Path) -> Iterator[int]:
    """Of the files that say what there is: code and presets."""
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _times(Path(entry.path)) if entry.name != "__pycache__" else ()
            elif entry.name.endswith((".py", ".yaml")):
                yield entry.stat().st_mtime_ns
    yield 0


def _keep(path: Path, content: Table) -> None:
    """Written beside and moved, so that no other TAB reads half of it; a cache that cannot be written is no error."""
    unfinished = path.with_name(f"{FILE}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(content), encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
