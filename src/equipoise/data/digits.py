"""Handwritten digits, 8×8, one channel, 10 classes: the set that comes with scikit-learn, so no file is needed.

1797 images; a fifth of each class is the test set, by a fixed draw that does not depend on the run's seed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.fixed_test import parted

CLASSES = tuple("0123456789")
MEAN = (0.3056,) * 3
STD = (0.3759,) * 3
"""Of the training images."""


@DATASETS.register("digits", options=ImageOptions)
def digits(options: ImageOptions, folder: Path | None) -> Dataset:
    table = _table()
    pixels = np.rint(table[:, :-1].reshape(-1, 1, 8, 8) * (255 / 16)).astype(np.uint8)
    everything = Images(pixels, table[:, -1].astype(np.int64))
    train, test = parted(everything, len(CLASSES), 1 / 5, "digits-test")
    return Dataset("digits", train, test, CLASSES, MEAN, STD)


def _table() -> NDArray[np.float64]:
    """scikit-learn's file, 64 pixels and the label per row; importing scikit-learn would take a second."""
    package = find_spec("sklearn")
    assert package is not None
    assert package.origin is not None
    return np.loadtxt(Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz", delimiter=",")
