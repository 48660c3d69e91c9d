"""A set that clients cannot train on is refused before anything is split, whoever made it."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.wellformed import wellformed

ENTRY = DATASETS.find("digits")


def images(channels: int = 1, n: int = 6, **parts) -> Images:
    pixels = np.zeros((n, channels, 4, 4), np.uint8)
    return Images(parts.get("pixels", pixels), parts.get("labels", np.arange(n) % 2))


def made(train: Images | None = None, mean=(0.5,), std=(0.25,)) -> Dataset:
    return Dataset("own", train or images(), images(), ("a", "b"), mean, std)


def test_a_set_that_is_well_formed_stays_as_it_is():
    found = made()
    assert wellformed(found, ENTRY) is found


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (made(images(pixels=np.zeros((6, 1, 4, 4)))), "pixels are float64"),
        (made(images(pixels=np.zeros((6, 4, 4), np.uint8))), r"of shape \(6, 4, 4\)"),
        (made(images(labels=np.arange(5))), r"labels are int64 of shape \(5,\) for 6 images"),
        (made(images(labels=np.zeros(6))), "labels are float64"),
        (made(images(labels=np.arange(6))), "labels run from 0 to 5, there are 2 classes"),
        ({"train": 1}, "gives no Dataset, but dict"),
    ],
)
def test_what_is_wrong_is_said_with_the_place_that_registered_it(wrong, said):
    with pytest.raises(DataError, match=said) as caught:
        wellformed(wrong, ENTRY)
    assert caught.value.where.startswith(ENTRY.origin.file)
    assert caught.value.fix
