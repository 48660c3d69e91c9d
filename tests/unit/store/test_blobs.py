from __future__ import annotations

import hashlib
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from equipoise.core.errors import DamagedBlob, StoreError
from equipoise.store import blobs
from equipoise.store.database import Store


@pytest.mark.parametrize("data", [b"", b"weights", bytes(300_000)])
def test_bytes_come_back(store: Store, data: bytes) -> None:
    digest = blobs.put(store, data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert blobs.get(store, digest) == data
    assert blobs.blob_path(store, digest) == store.blobs / digest[:2] / f"{digest}.safetensors"
    assert len(list(store.blobs.glob("??/*"))) == 1


def test_the_same_bytes_are_kept_once(store: Store) -> None:
    path = blobs.blob_path(store, blobs.put(store, b"weights"))
    number = path.stat().st_ino
    blobs.put(store, b"weights")
    assert path.stat().st_ino == number


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


def test_collecting_removes_what_nothing_refers_to(store: Store) -> None:
    kept, old = (blobs.put(store, data) for data in (b"kept", b"old.."))
    assert blobs.gc(store, lambda: {kept}) == blobs.CollectedBlobs(files=1, size=5)
    assert blobs.get(store, kept) == b"kept"
    with pytest.raises(DamagedBlob, match="missing"):
        blobs.get(store, old)


def test_nothing_is_collected_between_a_put_and_what_refers_to_it(store: Store) -> None:
    """A collection waits for the lock, and asks what is referred to only when it has it."""
    referred: set[str] = set()
    collected: list[blobs.CollectedBlobs] = []
    collector = Thread(target=lambda: collected.append(blobs.gc(store, lambda: set(referred))))
    with blobs.referring(store):
        digest = blobs.put(store, b"new")
        collector.start()
        collector.join(0.2)
        assert not collected
        referred.add(digest)
    collector.join()
    assert collected == [blobs.CollectedBlobs(0, 0)]
    assert blobs.get(store, digest) == b"new"


def test_collecting_removes_what_killed_writers_left(store: Store) -> None:
    kept = blobs.put(store, b"kept")
    left = blobs.blob_path(store, kept).parent / f"{blobs.PART}1-0"
    left.write_bytes(b"half")
    assert blobs.gc(store, lambda: {kept}) == blobs.CollectedBlobs(files=1, size=4)
    assert not left.exists()


def test_collecting_in_a_new_store(store: Store) -> None:
    assert blobs.gc(store, set) == blobs.CollectedBlobs(0, 0)


def test_collecting_what_cannot_be_removed(store: Store) -> None:
    folder = store.blobs / "ab" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(StoreError):
        blobs.gc(store, set)
