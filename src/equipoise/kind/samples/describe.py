"""Describes a set of images: counts, labels, shape, range and channel statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.blocks import DataOptions
from equipoise.core.values import Dataset, Images, Pixels
from equipoise.data.constants import constants_of, require_constants, value_counts
from equipoise.data.known import KnownImages


def describe_images(dataset: Dataset, options: DataOptions, known: KnownImages, folder: Path | None) -> dict[str, Any]:
    require_constants(dataset)
    splits = {"train": _split(dataset.train, known.train), "test": _split(dataset.test, known.test)}
    return {
        "classes": list(dataset.classes),
        "shape": list(dataset.train.pixels.shape[1:]),
        "splits": splits,
        "is_complete": all(split["count"] == split["published"] for split in splits.values()),
        **_statistics(dataset.train.pixels),
        "normalises_with": {"mean": list(dataset.mean), "std": list(dataset.std)},
    }


def _split(images: Images, published: int | None) -> dict[str, Any]:
    return {"count": len(images), "published": published, "labels": np.bincount(images.labels).tolist()}


def _statistics(pixels: Pixels) -> dict[str, Any]:
    """Range, and mean and deviation per channel of [0, 1] pixels, computed exactly from a histogram of values."""
    counts = value_counts(pixels)
    mean, std = constants_of(counts)
    present = np.flatnonzero(counts.sum(axis=0))
    return {"range": [int(present[0]), int(present[-1])], "mean": list(mean), "std": list(std)}
