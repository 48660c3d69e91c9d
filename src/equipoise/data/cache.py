"""Keep decoded images as `.npy` files, so that a sweep decodes a set once and its processes share the pages.

    key = sha256(format, name of each source file and the sha256 of its bytes)

The key comes from the content of the source files, never from their age: a file that changes gets another key. Pixels
are read-only and mapped from disk. If the cache cannot be written, images are decoded each time.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Images
from equipoise.data.source import Found, Pair, Source, damaged, locate

CACHE_VARIABLE = "EQUIPOISE_CACHE"
FORMAT = "1"
"""Raised when a decoder changes what it returns, so that older caches are not read."""

PARTS = ("train-pixels", "train-labels", "test-pixels", "test-labels")


def cache_folder() -> Path:
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given).expanduser() if given else Path.home() / ".cache" / "equipoise"


def read(source: Source[Pair], folder: Path | None) -> Pair:
    """Train and test of a set: from the cache if they are there, otherwise decoded and stored."""
    found = locate(source, folder)
    return cached(source.name, found)


def cached(name: str, found: Found) -> Pair:
    stem = f"{name}-{content_key(found.files)}"
    kept = _load(stem)
    if kept is not None:
        return kept
    decoded = found.decode()
    try:
        _store(stem, decoded)
    except OSError:
        return decoded
    return _load(stem) or decoded


def file_digest(path: Path, kind: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, kind).hexdigest()
    except OSError as error:
        raise damaged(path, f"it cannot be read ({error.strerror})") from error


def content_key(files: tuple[Path, ...]) -> str:
    """A key of the bytes of the files and of their names below their common folder, which may itself be moved."""
    digest = hashlib.sha256(FORMAT.encode())
    folder = os.path.commonpath([path.parent for path in files])
    for path in files:
        digest.update(f"\n{path.relative_to(folder).as_posix()} {file_digest(path, 'sha256')}".encode())
    return digest.hexdigest()[:40]


def _load(stem: str) -> Pair | None:
    arrays = [_mapped(cache_folder() / f"{stem}-{part}.npy") for part in PARTS]
    train_pixels, train_labels, test_pixels, test_labels = arrays
    train, test = _images(train_pixels, train_labels), _images(test_pixels, test_labels)
    return None if train is None or test is None else (train, test)


def _images(pixels: NDArray[Any] | None, labels: NDArray[Any] | None) -> Images | None:
    if pixels is None or labels is None or len(pixels) != len(labels):
        return None
    fits = pixels.dtype == np.uint8 and pixels.ndim == 4 and labels.dtype == np.int64 and labels.ndim == 1
    return Images(pixels, np.array(labels)) if fits else None


def _mapped(path: Path) -> NDArray[Any] | None:
    """The array in a cache file; None if the file is missing, cut short, too long or not an array."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        is_whole = path.stat().st_size == array.offset + array.nbytes
    except (OSError, ValueError, EOFError, AttributeError):
        return None
    return array if is_whole else None


def _store(stem: str, pair: Pair) -> None:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    arrays = [array for images in pair for array in (images.pixels, images.labels)]
    for part, array in zip(PARTS, arrays, strict=True):
        _write(folder / f"{stem}-{part}.npy", array)


def _write(path: Path, array: NDArray[Any]) -> None:
    """Write a temporary file, flush it to disk and rename it: a reader sees the whole file or none."""
    part = path.with_name(f".part-{uuid.uuid4().hex}")
    try:
        with part.open("xb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
