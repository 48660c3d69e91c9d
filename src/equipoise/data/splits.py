"""From a whole set to what a run uses: fewer images where asked, then validation and a public pool out of train.

    train → limit at random → validation at random → public pool at random → train

Shares are of what the limit left.

Each draw has its own stream of the run's seed and keeps the order of the set, so one limit never moves another.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from equipoise.config.blocks import DataOptions, ImageOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.streams import stream
from equipoise.core.values import Dataset, Images, Indices
from equipoise.data.wellformed import wellformed


@dataclass(frozen=True)
class Splits:
    """Images for training, for choosing and for reporting, with the constants that normalise them."""

    name: str
    train: Images
    validation: Images
    test: Images
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    public: Images
    """What the server holds; empty unless asked for."""
    content: str
    """Hash of every pixel and label of the whole set, before limits: what a run began with."""


def load_splits(options: DataOptions, seed: int, folder: Path | None = None) -> Splits:
    """The splits of the set that `options` names; without a folder, EQUIPOISE_DATA says where files are."""
    entry = DATASETS.find(options.name, "data")
    dataset = wellformed(entry.make(options, folder), entry)
    assert isinstance(options, ImageOptions), "only image sets are split by images"
    return prepare_splits(dataset, options, seed)


def prepare_splits(dataset: Dataset, options: ImageOptions, seed: int) -> Splits:
    train = _limited(dataset.train, options.limit, "limit", seed)
    test = _limited(dataset.test, options.test_limit, "test-limit", seed)
    n = len(train)
    if n < 2:
        what = f"{n} training image cannot be both trained on and held out for validation"
        raise DataError(what, where="data.limit", fix="set data.limit to 2 or more")
    n_validation = min(max(1, round(options.validation * n)), n - 1)
    held = _drawn(n, n_validation, "validation", seed)
    kept = np.setdiff1d(np.arange(n), held)
    pool = kept[_drawn(len(kept), min(round(options.public * n), len(kept) - 1), "public", seed)]
    kept = np.setdiff1d(kept, pool)
    parts = {"train": train.take(kept), "validation": train.take(held), "public": train.take(pool), "test": test}
    return Splits(
        dataset.name, **parts, classes=dataset.classes, mean=dataset.mean, std=dataset.std, content=content_of(dataset)
    )


def content_of(dataset: Dataset) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for images in (dataset.train, dataset.test):
        digest.update(str(images.pixels.shape).encode())
        digest.update(np.ascontiguousarray(images.pixels).data)
        digest.update(np.ascontiguousarray(images.labels).data)
    return digest.hexdigest()


def _limited(images: Images, limit: int | None, purpose: str, seed: int) -> Images:
    if limit is None:
        return images
    if limit > len(images):
        key = f"data.{purpose.replace('-', '_')}"
        what = f"{key}={limit} asks for more images than there are: {len(images)}"
        raise DataError(what, where=key, fix=f"leave {key} out, or set it to {len(images)} or less")
    return images.take(_drawn(len(images), limit, purpose, seed))


def _drawn(n: int, count: int, purpose: str, seed: int) -> Indices:
    """`count` of 0 … n−1 without repetition, in order."""
    return np.sort(stream(seed, purpose).choice(n, count, replace=False))
