from __future__ import annotations

import hashlib
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from equipoise.core.errors import StoreError
from equipoise.store import blobs
from equipoise.store.database import Store

HOURS_AGO = time.time() - 7200


def age(path: Path) -> None:
    os.utime(path, (HOURS_AGO, HOURS_AGO))


@pytest.mark.parametrize("data", [b"", b"weights", bytes(300_000)])
def test_bytes_come_back(store: Store, data: bytes) -> None:
    digest = blobs.put(store, data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert blobs.get(store, digest) == data
    assert blobs.blob_path(store, digest) == store.blobs / digest[:2] / f"{digest}.safetensors"
    assert len(list(store.blobs.glob("??/*"))) == 1


def test_the_same_bytes_are_kept_once_and_become_young(store: Store) -> None:
    path = blobs.blob_path(store, blobs.put(store, b"weights"))
    age(path)
    number = path.stat().st_ino
    blobs.put(store, b"weights")
    assert path.stat().st_ino == number
    assert path.stat().st_mtime > HOURS_AGO + 3600


def test_a_changed_file_is_named_with_its_digest(store: Store) -> None:
    digest = blobs.put(store, b"weights")
    path = blobs.blob_path(store, digest)
    path.write_bytes(b"weighty")
    with pytest.raises(StoreError, match=f"blob {digest} is damaged") as caught:
        blobs.get(store, digest)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("damage", [b"weighty", b"w", b""])
def test_a_damaged_file_is_replaced_by_the_next_put(store: Store, damage: bytes) -> None:
    digest = blobs.put(store, b"weights")
    blobs.blob_path(store, digest).write_bytes(damage)
    blobs.put(store, b"weights")
    assert blobs.get(store, digest) == b"weights"


def test_a_missing_file_is_named_with_its_digest(store: Store) -> None:
    digest = hashlib.sha256(b"never").hexdigest()
    with pytest.raises(StoreError, match=f"blob {digest} is missing"):
        blobs.get(store, digest)


def test_a_folder_in_place_of_a_blob(store: Store) -> None:
    digest = hashlib.sha256(b"weights").hexdigest()
    blobs.blob_path(store, digest).mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be read or written"):
        blobs.get(store, digest)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "AB" * 32, "ab" * 31])
def test_what_is_no_digest_is_refused(store: Store, digest: str) -> None:
    with pytest.raises(StoreError, match="not the digest of a blob"):
        blobs.get(store, digest)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_room_leaves_no_half_file(store: Store) -> None:
    with pytest.raises(StoreError, match="the disk is full") as caught, largest_file(1000):
        blobs.put(store, bytes(5000))
    assert caught.value.where.startswith(str(store.blobs))
    assert list(store.blobs.glob("??/*")) == []
    blobs.put(store, bytes(5000))


def test_collecting_removes_what_is_old_and_not_kept(store: Store) -> None:
    kept, old, young = (blobs.put(store, data) for data in (b"kept", b"old..", b"young"))
    for digest in (kept, old):
        age(blobs.blob_path(store, digest))
    assert blobs.gc(store, {kept}) == blobs.Swept(files=1, size=5)
    assert blobs.get(store, kept) == b"kept"
    assert blobs.get(store, young) == b"young"
    with pytest.raises(StoreError, match="missing"):
        blobs.get(store, old)
    assert blobs.gc(store, set(), older_than=-1.0).files == 2


def test_collecting_removes_what_killed_writers_left(store: Store) -> None:
    folder = blobs.blob_path(store, blobs.put(store, b"kept")).parent
    left, fresh = folder / f"{blobs.PART}1-0", folder / f"{blobs.PART}2-0"
    for path in (left, fresh):
        path.write_bytes(b"half")
    age(left)
    assert blobs.gc(store, set()) == blobs.Swept(files=1, size=4)
    assert (left.exists(), fresh.exists()) == (False, True)


def test_collecting_in_a_new_store(store: Store) -> None:
    assert blobs.gc(store, set()) == blobs.Swept(0, 0)


def test_collecting_what_cannot_be_removed(store: Store) -> None:
    folder = store.blobs / "ab" / "folder"
    folder.mkdir(parents=True)
    age(folder)
    with pytest.raises(StoreError):
        blobs.gc(store, set())
