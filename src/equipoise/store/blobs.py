"""Files beside the database, named by the hash of their content.

    equipoise.blobs/ab/abcdef….safetensors     digest = sha256(content), in hexadecimal

A file is complete or absent: it is written under a temporary name, synced to disk and renamed. Reading checks the hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import DamagedBlob, StoreError
from equipoise.store.errors import from_disk
from equipoise.store.locks import locked
from equipoise.store.transact import Store

PART = ".part-"


@dataclass(frozen=True)
class CollectedBlobs:
    """How many files and bytes a garbage collection removed."""

    files: int
    size: int


def put(store: Store, data: bytes) -> str:
    """Stores the bytes and returns their digest. An existing file is compared, so a damaged one is replaced."""
    digest = hashlib.sha256(data).hexdigest()
    path = blob_path(store, digest)
    try:
        with locked(store.blobs / "gc.lock", fcntl.LOCK_SH):
            if not _holds(path, data):
                _write(path, data)
    except OSError as error:
        raise from_disk(error, str(path)) from error
    return digest


def is_there(store: Store, digest: str) -> bool:
    """Whether a file of that digest exists; its content is not checked."""
    return blob_path(store, digest).is_file()


def size(store: Store, digest: str) -> int:
    """Size of that file in bytes; 0 if it does not exist."""
    return _size(blob_path(store, digest))


def unreferenced(store: Store, referenced: Collection[str]) -> int:
    """Total size of the files whose digests are not listed."""
    kept = {blob_path(store, digest) for digest in referenced}
    found = (path for folder in store.blobs.glob("??") for path in folder.iterdir())
    return sum(_size(path) for path in found if path not in kept)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process has just removed it
        return 0


def get(store: Store, digest: str) -> bytes:
    """The bytes of that digest. A missing or changed file raises an error that names it."""
    path = blob_path(store, digest)
    fix = "`equipoise resume` goes back to the newest checkpoint that is whole"
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise DamagedBlob(f"blob {digest} is missing", where=str(path), fix=fix) from error
    except OSError as error:
        raise from_disk(error, str(path)) from error
    found = hashlib.sha256(data).hexdigest()
    if found != digest:
        what = f"blob {digest} is damaged: its {len(data)} bytes have the digest {found}"
        raise DamagedBlob(what, where=str(path), fix=fix)
    return data


@contextmanager
def referring(store: Store) -> Iterator[None]:
    """Protects new blobs from garbage collection until the transaction that refers to them is committed."""
    with locked(store.blobs / "gc.lock", fcntl.LOCK_SH):
        yield


def gc(store: Store, referenced: Callable[[], Collection[str]]) -> CollectedBlobs:
    """Removes unreferenced blobs and leftovers of killed writers; `referenced` is called while the lock is held."""
    removed = []
    try:
        with locked(store.blobs / "gc.lock"):
            keep = referenced()
            for path in sorted(store.blobs.glob("[0-9a-f][0-9a-f]/*")):
                if path.stem not in keep:
                    removed.append(path.stat().st_size)
                    path.unlink()
    except OSError as error:
        raise from_disk(error, str(store.blobs)) from error
    return CollectedBlobs(len(removed), sum(removed))


def blob_path(store: Store, digest: str) -> Path:
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise StoreError(f"'{digest}' is not the digest of a blob", where=str(store.blobs))
    return store.blobs / digest[:2] / f"{digest}.safetensors"


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _write(path: Path, data: bytes) -> None:
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        _sync_folder(path.parent.parent)
    part = path.with_name(f"{PART}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # the first error is the one to report; gc removes what stays
            part.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
