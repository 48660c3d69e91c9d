from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from equipoise.config.blocks import ImageOptions
from equipoise.data.digits import digits
from equipoise.data.known import KNOWN

EVERYTHING = load_digits()


def test_pixels_0_to_16_become_0_to_255():
    dataset = digits(ImageOptions(), None)
    both = np.concatenate([dataset.train.pixels, dataset.test.pixels])
    assert both.dtype == np.uint8
    assert both.shape == (1797, 1, 8, 8)
    assert set(np.unique(both)) == {round(value * 255 / 16) for value in range(17)}
    first = np.rint(EVERYTHING.images[0] * 255 / 16).astype(np.uint8)
    assert any(np.array_equal(image[0], first) for image in both)


def test_split_is_stratified_four_to_one_and_loses_nothing():
    dataset = digits(ImageOptions(), None)
    whole = np.bincount(EVERYTHING.target)
    test = np.bincount(dataset.test.labels)
    assert test.tolist() == [round(n / 5) for n in whole]
    assert (np.bincount(dataset.train.labels) + test).tolist() == whole.tolist()
    assert (len(dataset.train), len(dataset.test)) == (1438, 359) == (KNOWN["digits"].train, KNOWN["digits"].test)


def test_split_is_the_same_every_time():
    first, second = (digits(ImageOptions(), None) for _ in range(2))
    assert np.array_equal(first.test.pixels, second.test.pixels)
    assert np.array_equal(first.train.labels, second.train.labels)


def test_constants_are_those_of_the_training_images():
    dataset = digits(ImageOptions(), None)
    shares = dataset.train.pixels / 255
    assert np.allclose(dataset.mean, shares.mean(), atol=1e-4)
    assert np.allclose(dataset.std, shares.std(), atol=1e-4)
    assert len(dataset.mean) == len(dataset.std) == 3
    assert dataset.classes == tuple("0123456789")
    assert dataset.train.labels.dtype == np.int64
