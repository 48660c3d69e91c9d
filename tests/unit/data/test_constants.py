from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.constants import constants_of, measured, require_constants, value_counts
from equipoise.data.splits import load_splits


def dataset(channels=1, mean=(0.5,), std=(0.2,)):
    images = Images(np.zeros((4, channels, 2, 2), np.uint8), np.arange(4))
    return Dataset("toy", images, images, tuple("abcd"), mean, std)


def test_constants_are_exact_and_of_each_channel(rng):
    pixels = rng.integers(0, 256, (1201, 3, 5, 4), dtype=np.uint8)
    counts = value_counts(pixels)
    assert counts.shape == (3, 256)
    assert counts.sum() == pixels.size
    mean, std = constants_of(counts)
    shares = pixels / 255
    assert np.allclose(mean, shares.mean(axis=(0, 2, 3)), atol=1e-12)
    assert np.allclose(std, shares.std(axis=(0, 2, 3)), atol=1e-12)
    assert measured(pixels, "here") == (mean, std)


def test_a_channel_that_never_varies_is_refused(rng):
    pixels = rng.integers(0, 256, (5, 3, 2, 2), dtype=np.uint8)
    pixels[:, 1] = 7
    with pytest.raises(DataError, match="every training pixel of channel 1 is 7") as caught:
        measured(pixels, "here")
    assert caught.value.where == "here"


@pytest.mark.parametrize(("channels", "length"), [(1, 1), (1, 3), (3, 1), (3, 3)])
def test_one_constant_or_three_fit_images_of_one_channel_or_three(channels, length):
    require_constants(dataset(channels, (0.5,) * length, (0.2,) * length))


@pytest.mark.parametrize(
    ("channels", "mean", "std", "message"),
    [
        (1, (0.5,) * 2, (0.2,) * 2, "images of 1 channels have 2 means and 2 standard deviations"),
        (3, (0.5,) * 3, (0.2,), "images of 3 channels have 3 means and 1 standard deviations"),
        (3, (), (), "images of 3 channels have 0 means and 0 standard deviations"),
        (4, (0.5,) * 4, (0.2,) * 4, "the images have 4 channels"),
        (1, (0.5,), (0.0,), r"standard deviation \(0.0,\) cannot normalise"),
        (1, (float("nan"),), (0.2,), r"mean \(nan,\)"),
    ],
)
def test_a_mismatch_is_refused_when_the_set_is_loaded(monkeypatch, channels, mean, std, message):
    entries = {**DATASETS._entries}
    monkeypatch.setattr(DATASETS, "_entries", entries)
    DATASETS.register("toy", options=ImageOptions)(lambda options, folder: dataset(channels, mean, std))
    with pytest.raises(DataError, match=message) as caught:
        load_splits(ImageOptions(name="toy"), 0)
    assert caught.value.where == "data 'toy'"
    assert caught.value.fix
