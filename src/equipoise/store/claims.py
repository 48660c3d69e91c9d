"""Pieces of work that one process takes, of all that share a store: on this machine, or on several over PostgreSQL.

    SQLite       a flock on a file beside the blobs
    PostgreSQL   a session's advisory lock

Both are let go of when the process ends, however it ends, and its machine too.
"""

from __future__ import annotations

import hashlib
import os
from types import TracebackType

from sqlalchemy import Connection, text

from equipoise.store.locks import take_file
from equipoise.store.transact import Store


class Claims:
    """What this process has taken. Asking for what another one has taken is answered at once: no."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, int] = {}
        self._keys: set[str] = set()
        self._session: Connection | None = None

    def take(self, key: str) -> bool:
        """Whether it is ours now, or was already."""
        if key in self._keys or key in self._files:
            return True
        if self._store.writer.dialect.name == "postgresql":
            taken = bool(self._ask("SELECT pg_try_advisory_lock(:key)", key))
            self._keys |= {key} if taken else set()
            return taken
        handle = take_file(self._store.blobs / "locks" / f"cell-{self._digest(key).hex()}.lock")
        if handle is not None:
            self._files[key] = handle
        return handle is not None

    @property
    def taken(self) -> set[str]:
        return {*self._keys, *self._files}

    def release(self, key: str) -> None:
        if key in self._files:
            os.close(self._files.pop(key))
        elif key in self._keys:
            self._keys.remove(key)
            self._ask("SELECT pg_advisory_unlock(:key)", key)

    def __enter__(self) -> Claims:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in list(self._files):
            self.release(key)
        if self._session is not None:
            self._session.invalidate()  # the server lets go of a session's locks when it is gone
            self._session.close()

    def _ask(self, query: str, key: str) -> object:
        if self._session is None:
            self._session = self._store.writer.connect().execution_options(isolation_level="AUTOCOMMIT")
        return self._session.scalar(text(query), {"key": int.from_bytes(self._digest(key), "big", signed=True)})

    def _digest(self, key: str) -> bytes:
        """Of the store too: a PostgreSQL server has one set of locks for all stores of a database."""
        return hashlib.blake2b(f"{self._store.blobs}/{key}".encode(), digest_size=8).digest()
