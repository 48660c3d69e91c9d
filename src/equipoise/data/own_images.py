"""Check images that the user brought, and make a data set of them.

Every class needs a training image, a test image needs a class of train, and there must be two classes or more. `mean`
and `std` are measured on the training images.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError
from equipoise.core.values import Dataset, Images
from equipoise.data.constants import measured
from equipoise.data.fixed_test import SHARE, parted
from equipoise.data.source import Pair


class OwnImageOptions(ImageOptions):
    """Where a set without a test part gets one from."""

    test_share: float | None = Field(
        None,
        gt=0,
        lt=1,
        description=f"share of each class that is held out for test, by a fixed draw; {SHARE} where the data has no "
        "test part and nothing is said",
    )


def own_dataset(name: str, pair: Pair, classes: tuple[str, ...], where: str) -> Dataset:
    train, test = pair
    require_classes(train, classes, where)
    foreign = np.flatnonzero(~np.isin(test.labels, train.labels))
    if len(foreign):
        label = int(test.labels[foreign[0]])
        name_of = f"{label} ({classes[label]})" if 0 <= label < len(classes) else str(label)
        what = f"{len(foreign)} of {len(test)} test images are of classes that train does not have, as {name_of}"
        raise DataError(what, where=where, fix="add training images of these classes, or remove them from test")
    return Dataset(name, train, test, classes, *measured(train.pixels, where))


def require_classes(train: Images, classes: tuple[str, ...], where: str, at_least: int = 1) -> None:
    """Refuse fewer than two classes, and a class with fewer training images than `at_least`."""
    if len(classes) < 2:
        what = f"there is one class, '{classes[0]}'" if classes else "there is no class"
        raise DataError(f"{what}; a classifier needs two or more", where=where, fix="add images of another class")
    counts = np.bincount(train.labels, minlength=len(classes))
    few = np.flatnonzero(counts < at_least)
    if len(few):
        label = int(few[0])
        what = f"{len(few)} of {len(classes)} classes have too few training images: class {label} ('{classes[label]}')"
        fix = "add images of these classes, or remove the classes and number the others from 0 without a gap"
        raise DataError(f"{what} has {counts[label]}, needed: {at_least}", where=where, fix=fix)


def with_test(everything: Images, classes: tuple[str, ...], share: float | None, where: str) -> Pair:
    """Train and test of images that come without a test part."""
    require_classes(everything, classes, where, at_least=2)
    return parted(everything, len(classes), SHARE if share is None else share, "own-test")


def refuse_share(share: float | None, where: str) -> None:
    """A share that nothing would be held out by."""
    if share is not None:
        what = f"data.test_share={share} would do nothing: the data has a test part of its own"
        raise DataError(what, where=where, fix="leave data.test_share out, or remove the test part")
