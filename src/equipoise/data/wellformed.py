"""Is it a set of images that clients can train on? Whoever made it, it is examined before anything is split or trained.

    pixels uint8 [N, 1 or 3, H, W]      labels whole numbers [N] from 0 to C − 1      mean, std per channel, std > 0

One channel is repeated to three before a network sees it, and so are its constants.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.registry import Entry
from equipoise.core.values import Dataset, Images
from equipoise.data.inputs import LabelledSet

CHANNELS = 3


def wellformed(made: Any, entry: Entry[Any]) -> Dataset | LabelledSet:
    """The set itself; of images its constants for three channels; or a DataError that says what is wrong with it."""
    whose = f"{entry.origin.file}, line {entry.origin.line}"
    if isinstance(made, LabelledSet):  # its inputs examine what they are given
        return made
    if not isinstance(made, Dataset):
        fix = "return equipoise.core.values.Dataset(name, train, test, classes, mean, std)"
        raise DataError(f"data '{entry.name}' gives no Dataset, but {type(made).__name__}", where=whose, fix=fix)
    for part, images in (("train", made.train), ("test", made.test)):
        if wrong := _objection(images, made):
            what, fix = wrong
            raise DataError(f"data '{entry.name}', {part}: {what}", where=whose, fix=fix)
    return replace(made, mean=_three(made.mean), std=_three(made.std))


def _objection(images: Images, made: Dataset) -> tuple[str, str] | None:
    """What is wrong, and what to do about it."""
    pixels, labels, n_classes = images.pixels, images.labels, len(made.classes)
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, CHANNELS):
        found = f"pixels are {pixels.dtype} of shape {pixels.shape}"
        return f"{found}, expected uint8 [N, 1 or 3, H, W]", "give values of 0 to 255, channels before height and width"
    if labels.shape != (len(pixels),) or labels.dtype.kind not in "iu":
        return (
            f"labels are {labels.dtype} of shape {labels.shape} for {len(pixels)} images",
            "one whole number per image",
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        said = f"labels run from {labels.min()} to {labels.max()}, there are {n_classes} classes"
        return said, "count labels from 0, and name every class"
    for name, values in (("mean", made.mean), ("std", made.std)):
        if len(values) not in (1, CHANNELS) or not all(map(isfinite, values)) or (name == "std" and min(values) <= 0):
            return f"{name} is {values}", "one finite number per channel, for one channel or three; deviations above 0"
    return None


def _three(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(values) * CHANNELS if len(values) == 1 else tuple(values)
