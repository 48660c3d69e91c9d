"""A file lock marks the process that works on a run. The operating system releases it however the process ends.

A forked child inherits its parent's lock and would make a killed run look alive, so children close it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equipoise.core.errors import StoreError
from equipoise.store.errors import from_disk
from equipoise.store.transact import Store

GRACE = 0.5
"""Seconds for which `hold` retries, because `is_alive` in another process takes the lock for an instant."""

_held: set[int] = set()


def _let_go_in_child() -> None:
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_child)


@contextmanager
def hold(store: Store, run_id: str) -> Iterator[None]:
    """Makes this the only process that works on the run; hold it from before `create_run` until after `finish`."""
    handle = _open(_path(store, run_id))
    _held.add(handle)
    try:
        _take(handle, store, run_id)
        yield
    finally:
        if handle in _held:  # a forked child has closed it already
            _held.remove(handle)
            os.close(handle)


def _take(handle: int, store: Store, run_id: str) -> None:
    deadline = time.monotonic() + GRACE
    while not _try(handle, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            fix = "wait for it to end, or stop it; one process at a time works on a run"
            raise StoreError(f"run '{run_id}' is being worked on by another process", where=store.location, fix=fix)
        time.sleep(0.02)


def is_alive(store: Store, run_id: str) -> bool:
    """Whether a process on this machine holds the run."""
    path = _path(store, run_id)
    if not path.exists():
        return False
    handle = _open(path, os.O_RDONLY)
    try:
        return not _try(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def take_file(path: Path) -> int | None:
    """A handle that locks the file exclusively until it is closed; None if another process holds the lock."""
    handle = _open(path)
    if _try(handle, fcntl.LOCK_EX):
        return handle
    os.close(handle)
    return None


@contextmanager
def locked(path: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Waits for an exclusive lock around a short piece of work, or with LOCK_SH for a shared one."""
    handle = _open(path)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def _path(store: Store, run_id: str) -> Path:
    if not run_id or Path(run_id).name != run_id:
        raise StoreError(f"'{run_id}' cannot be the id of a run: it is not a file name", where=store.location)
    return store.blobs / "locks" / f"{run_id}.lock"


def _open(path: Path, mode: int = os.O_RDWR | os.O_CREAT) -> int:
    try:
        if mode & os.O_CREAT:
            path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, mode, 0o666)
    except OSError as error:
        raise from_disk(error, str(path)) from error


def _try(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
