"""From a whole set to what a run uses: fewer samples where asked, then validation and a public pool out of train.

    train → limit at random → validation at random → public pool at random → train

Shares are of what the limit left. Each draw has its own stream of the run's seed and keeps the order of the set, so
one limit never moves another. `origin` says where each remaining training image stands in the whole training set.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from equipoise.config.blocks import DataOptions, SampleOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.streams import stream
from equipoise.core.values import Dataset, Indices, Samples
from equipoise.data.constants import require_constants
from equipoise.data.inputs import Inputs, LabelledSet, PixelInputs
from equipoise.data.wellformed import wellformed


@dataclass(frozen=True)
class SampleNumbers:
    """Of each remaining training sample, its number in the whole training set of `size` samples; ascending."""

    numbers: Indices
    size: int


@dataclass(frozen=True)
class Splits:
    """Samples for training, for choosing and for reporting, and how they enter a network."""

    name: str
    train: Samples
    validation: Samples
    test: Samples
    classes: tuple[str, ...]
    inputs: Inputs
    public: Samples
    """What the server holds; empty unless asked for."""
    content: str
    """Hash of every sample and label of the whole set, before limits: what a run began with."""
    origin: SampleNumbers | None = None
    """Where the training samples stand in the whole training set; None where nothing was taken out of it."""


def load_splits(options: DataOptions, seed: int, folder: Path | None = None) -> Splits:
    """The splits of the set that `options` names; without a folder, EQUIPOISE_DATA says where files are."""
    assert isinstance(options, SampleOptions), "only labelled samples are split so"
    return prepare_splits(load_labelled(options, folder), options, seed)


def load_labelled(options: DataOptions, folder: Path | None = None) -> LabelledSet:
    """The whole set. A reader of images gives pixels and their constants, any other reader a labelled set."""
    entry = DATASETS.find(options.name, "data")
    return labelled_set(wellformed(entry.make(options, folder), entry))


def labelled_set(found: Dataset | LabelledSet) -> LabelledSet:
    if isinstance(found, LabelledSet):
        return found
    require_constants(found)
    train, test = (Samples(images.pixels, images.labels) for images in (found.train, found.test))
    return LabelledSet(found.name, train, test, found.classes, PixelInputs(found.mean, found.std))


def prepare_splits(dataset: LabelledSet, options: SampleOptions, seed: int) -> Splits:
    train = _limited(dataset.train, options.limit, "limit", seed)
    test = _limited(dataset.test, options.test_limit, "test-limit", seed)
    n = len(train)
    if n < 2:
        what = f"{n} training sample cannot be both trained on and held out for validation"
        raise DataError(what, where="data.limit", fix="set data.limit to 2 or more")
    n_validation = min(max(1, round(options.validation * n)), n - 1)
    held = _drawn(n, n_validation, "validation", seed)
    kept = np.setdiff1d(np.arange(n), held)
    pool = kept[_drawn(len(kept), min(round(options.public * n), len(kept) - 1), "public", seed)]
    kept = np.setdiff1d(kept, pool)
    chosen = np.arange(n) if options.limit is None else _drawn(len(dataset.train), options.limit, "limit", seed)
    parts = {"train": train.take(kept), "validation": train.take(held), "public": train.take(pool), "test": test}
    return Splits(
        dataset.name,
        **parts,
        classes=dataset.classes,
        inputs=dataset.inputs,
        content=content_of(dataset),
        origin=SampleNumbers(chosen[kept], len(dataset.train)),
    )


def content_of(dataset: LabelledSet) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for samples in (dataset.train, dataset.test):
        digest.update(str(samples.inputs.shape).encode())
        digest.update(np.ascontiguousarray(samples.inputs).data)
        digest.update(np.ascontiguousarray(samples.labels).data)
    return digest.hexdigest()


def _limited(samples: Samples, limit: int | None, purpose: str, seed: int) -> Samples:
    if limit is None:
        return samples
    if limit > len(samples):
        key = f"data.{purpose.replace('-', '_')}"
        what = f"{key}={limit} asks for more samples than there are: {len(samples)}"
        raise DataError(what, where=key, fix=f"leave {key} out, or set it to {len(samples)} or less")
    return samples.take(_drawn(len(samples), limit, purpose, seed))


def _drawn(n: int, count: int, purpose: str, seed: int) -> Indices:
    """`count` of 0 … n−1 without repetition, in order."""
    return np.sort(stream(seed, purpose).choice(n, count, replace=False))
