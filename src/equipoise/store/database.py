"""Opens a store: an SQLite file by its path, or a PostgreSQL database by its URL."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from equipoise.core.errors import NoSuchRun, WrongStore
from equipoise.store.engines import postgres_engines, sqlite_engines
from equipoise.store.errors import from_disk
from equipoise.store.locks import locked
from equipoise.store.migrations import is_current, migrate
from equipoise.store.tables import facts
from equipoise.store.transact import Store, reading, writing

POSTGRES = {"postgresql", "postgres", "postgresql+psycopg"}


def default_location() -> str:
    """EQUIPOISE_STORE, or runs/equipoise.db in the current folder."""
    return os.environ.get("EQUIPOISE_STORE") or str(Path("runs") / "equipoise.db")


def open_store(location: str | Path | None = None, *, patience: float = 30.0) -> Store:
    """Opens the store at a path or URL. A missing store is created; one of an older version is migrated.

    `patience` is how many seconds to wait for another process's write before raising an error.
    """
    place = str(location if location is not None else default_location())
    store = as_it_is(place, patience)
    try:
        _bring_up_to_date(store)
        return _with_its_folder(store)
    except BaseException:
        store.close()
        raise


def open_existing(location: str | None = None) -> Store:
    """Opens a store for commands that only read: a missing file is an error, not created."""
    place = location or default_location()
    if "://" not in place and not Path(place).exists():
        fix = "`equipoise run` makes it; --store or EQUIPOISE_STORE names another one"
        raise NoSuchRun(f"there is no store at {place}", fix=fix)
    return open_store(place)


def as_it_is(place: str, patience: float) -> Store:
    """Opens an existing store for a look at it: nothing is created or migrated."""
    return _postgres(place, patience) if "://" in place else _sqlite(place, patience)


def _sqlite(place: str, patience: float) -> Store:
    path = Path(place)
    try:
        if path.is_dir():
            raise WrongStore("a store is a file, not a folder", where=place, fix=f"give {path / 'equipoise.db'}")
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_disk(error, place) from error
    writer, reader = sqlite_engines(path, patience)
    return Store(place, writer, reader, path.absolute().with_suffix(".blobs"))


def _postgres(place: str, patience: float) -> Store:
    fix = "give a path, or a URL such as postgresql://user@host/database"
    try:
        url = make_url(place)
    except (ArgumentError, ValueError) as error:
        raise WrongStore(f"the store's URL cannot be read: {error}", fix=fix) from error
    where = url.render_as_string(hide_password=True)
    if url.drivername not in POSTGRES:
        raise WrongStore(f"a store cannot be kept in '{url.drivername}'", where=where, fix=fix)
    writer, reader = postgres_engines(url, patience)
    given = os.environ.get("EQUIPOISE_BLOBS")
    name = f"{url.database}-{hashlib.sha256(where.encode()).hexdigest()[:8]}.blobs"
    return Store(where, writer, reader, Path(given or Path("runs") / name).absolute())


def _bring_up_to_date(store: Store) -> None:
    """Migrates an older store. Opening a store that is up to date writes nothing."""
    if store.writer.dialect.name != "sqlite":
        if not is_current(store):
            migrate(store)
    elif _is_empty(Path(store.location)) or not is_current(store):
        # the first process turns on the write-ahead log, which SQLite forbids while others read
        with locked(store.blobs / "migrate.lock"):
            migrate(store)


def _with_its_folder(store: Store) -> Store:
    """The store with its folder of blobs. PostgreSQL records that folder, so that all users share it."""
    if store.writer.dialect.name == "sqlite":
        return store
    known = _known_folder(store)
    if known is None:
        with writing(store) as connection:
            insert = postgresql.insert(facts).values(name="blobs", value=str(store.blobs))
            connection.execute(insert.on_conflict_do_nothing())
        known = _known_folder(store) or store.blobs
    if os.environ.get("EQUIPOISE_BLOBS") and known != store.blobs:
        what = f"this database keeps its files in {known}, EQUIPOISE_BLOBS says {store.blobs}"
        raise WrongStore(what, where=store.location, fix="unset EQUIPOISE_BLOBS, or use a database of its own")
    return replace(store, blobs=known)


def _known_folder(store: Store) -> Path | None:
    with reading(store) as connection:
        found = connection.scalar(select(facts.c.value).where(facts.c.name == "blobs"))
    return Path(found) if found else None


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


__all__ = ["Store", "as_it_is", "default_location", "open_existing", "open_store"]
