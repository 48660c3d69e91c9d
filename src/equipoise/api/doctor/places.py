"""The store, and the compiler. The store is looked at as it is: nothing is created or migrated."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from equipoise.api.doctor.checkup import Checkup

COMPILERS = ("c++", "g++", "clang++")


def store_checkups(store: str | None) -> list[Checkup]:
    """The store: can it be read and written, and is its schema this version's?"""
    from equipoise.core.errors import EquipoiseError
    from equipoise.store.database import default_location
    from equipoise.store.inspect import inspected

    place = store or default_location()
    if "://" not in place and not Path(place).exists():
        return [_not_yet(Path(place))]
    try:
        found = inspected(place)
    except EquipoiseError as error:
        where = f", {error.where}" if error.where else f", {place}"
        return [Checkup("store", "store", "broken", f"{error.what}{where}", error.fix)]
    if found.refuses_writes:
        fix = "check its permissions, or use another store: --store or EQUIPOISE_STORE"
        return [Checkup("store", "store", "broken", f"{found.location}: {found.refuses_writes}", fix)]
    if found.migrations:
        says = f"{found.location} lacks {', '.join(found.migrations)}; the next command adds that"
        return [Checkup("store", "store", "note", says)]
    return [Checkup("store", "store", "ok", f"{found.location}, {found.runs} runs, schema of this version, writable")]


def _not_yet(path: Path) -> Checkup:
    """No store is there yet: can it be made?"""
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        free = shutil.disk_usage(above).free / 1e9
        return Checkup("store", "store", "ok", f"none yet; the first run makes {path} ({free:.1f} GB free)")
    says = f"there is none at {path}, and {above} cannot be written to"
    return Checkup("store", "store", "broken", says, "name another one: --store or EQUIPOISE_STORE")


def compiler_checkups() -> list[Checkup]:
    """A C++ compiler, which torch.compile and the simulated device of the tests need."""
    found = next((path for path in map(shutil.which, COMPILERS) if path), None)
    if found:
        return [Checkup("tools", "compiler", "ok", found)]
    says = "no C++ compiler; for engine.compile=true, and for the simulated device of the tests"
    return [Checkup("tools", "compiler", "note", says, "install g++, as in: apt install g++")]
