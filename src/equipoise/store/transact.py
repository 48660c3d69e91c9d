"""Transactions: `writing` for changes, `reading` for a consistent view that never waits for a writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from equipoise.store.errors import from_database


@dataclass(frozen=True)
class Store:
    """An open store. `location` is for display: a path, or a URL without its password."""

    location: str
    writer: Engine
    reader: Engine
    blobs: Path

    def close(self) -> None:
        self.reader.dispose()
        self.writer.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextmanager
def writing(store: Store) -> Iterator[Connection]:
    """A transaction that is committed as a whole, or not at all."""
    with _transaction(store.writer, store.location) as connection:
        yield connection


@contextmanager
def reading(store: Store) -> Iterator[Connection]:
    with _transaction(store.reader, store.location) as connection:
        yield connection


@contextmanager
def _transaction(engine: Engine, where: str) -> Iterator[Connection]:
    try:
        with engine.begin() as connection:
            yield connection
    except (SQLAlchemyError, OverflowError, UnicodeError) as error:
        raise from_database(error, where) from error
