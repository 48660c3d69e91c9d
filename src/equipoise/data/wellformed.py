"""Is it a set that clients can train on? Whoever made it, it is examined before anything is split or trained.

    pixels uint8 [N, channels, H, W]        labels whole numbers [N] from 0 to C − 1

Channels and the constants that normalise them are examined in `constants`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.registry import Entry
from equipoise.core.values import Dataset, Images
from equipoise.data.inputs import LabelledSet


def wellformed(made: Any, entry: Entry[Any]) -> Dataset | LabelledSet:
    """The set itself, or a DataError that says what is wrong with it and who registered it."""
    whose = f"{entry.origin.file}, line {entry.origin.line}"
    if isinstance(made, LabelledSet):  # its inputs examine what they are given
        return made
    if not isinstance(made, Dataset):
        fix = "return equipoise.core.values.Dataset(name, train, test, classes, mean, std)"
        raise DataError(f"data '{entry.name}' gives no Dataset, but {type(made).__name__}", where=whose, fix=fix)
    for part, images in (("train", made.train), ("test", made.test)):
        if wrong := _objection(images, len(made.classes)):
            what, fix = wrong
            raise DataError(f"data '{entry.name}', {part}: {what}", where=whose, fix=fix)
    return made


def _objection(images: Images, n_classes: int) -> tuple[str, str] | None:
    """What is wrong, and what to do about it."""
    pixels, labels = images.pixels, images.labels
    if pixels.dtype != np.uint8 or pixels.ndim != 4:
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
    return None
