"""Claims: each piece of work goes to one process among all that share a store, on one machine or on several.

    SQLite       a flock on a file beside the blobs
    PostgreSQL   a session's advisory lock

Both locks are released when the process or its machine ends, however it ends. Several machines need PostgreSQL.
"""

from __future__ import annotations

import hashlib
import os
from types import TracebackType

from sqlalchemy import Connection, text

from equipoise.store.locks import take_file
from equipoise.store.transact import Store


class Claims:
    """The claims of this process. `take` never waits: it returns False if another process holds the claim."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, int] = {}
        self._keys: set[str] = set()
        self._session: Connection | None = None

    def take(self, key: str) -> bool:
        """Whether this process holds the claim now."""
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
        """A hash of the key and the store, because a PostgreSQL database shares its locks among all stores."""
        return hashlib.blake2b(f"{self._store.blobs}/{key}".encode(), digest_size=8).digest()
