from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError
from equipoise.data.svhn import svhn

from .writers import random_images


def write_mat(path, pixels: np.ndarray, digits: np.ndarray) -> None:
    """As published: X [32, 32, 3, N], y [N, 1] with 10 for the digit 0."""
    y = np.where(digits == 0, 10, digits).astype(np.uint8)[:, None]
    savemat(path, {"X": pixels.transpose(2, 3, 1, 0), "y": y}, do_compression=True)


@pytest.fixture
def written(folder, rng):
    train, test = (random_images(rng, count, 10, (3, 32, 32)) for count in (12, 3))
    train.labels[0] = 0
    write_mat(folder / "train_32x32.mat", train.pixels, train.labels)
    write_mat(folder / "test_32x32.mat", test.pixels, test.labels)
    return train, test


@pytest.mark.parametrize("inside", ["", "svhn"])
def test_as_published_with_ten_for_zero(folder, written, inside):
    train, test = written
    if inside:
        (folder / inside).mkdir()
        for path in list(folder.glob("*.mat")):
            path.rename(folder / inside / path.name)
    dataset = svhn(ImageOptions(), folder)
    assert np.array_equal(dataset.train.pixels, train.pixels)
    assert np.array_equal(dataset.train.labels, train.labels)
    assert np.array_equal(dataset.test.pixels, test.pixels)
    assert np.array_equal(dataset.test.labels, test.labels)
    assert dataset.train.labels[0] == 0
    assert dataset.classes == tuple("0123456789")
    assert dataset.train.pixels.flags["C_CONTIGUOUS"]


def test_a_missing_half_is_an_error(folder, written):
    (folder / "test_32x32.mat").unlink()
    with pytest.raises(DataError, match=r"1 of 2 files are missing: test_32x32\.mat"):
        svhn(ImageOptions(), folder)


@pytest.mark.parametrize("keep", [0, 100, 300, 5000])
def test_a_truncated_file_names_itself(folder, written, keep):
    path = folder / "train_32x32.mat"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"train_32x32\.mat: it is not a whole MATLAB file"):
        svhn(ImageOptions(), folder)


def test_other_variables_shapes_and_labels_are_refused(folder, written):
    path = folder / "train_32x32.mat"
    savemat(path, {"images": np.zeros(3)})
    with pytest.raises(DataError, match="X and y"):
        svhn(ImageOptions(), folder)
    savemat(path, {"X": np.zeros((28, 28, 3, 2), np.uint8), "y": np.ones((2, 1))})
    with pytest.raises(DataError, match=r"expected X of uint8 \[32, 32, 3, N\], found \(28, 28, 3, 2\)"):
        svhn(ImageOptions(), folder)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([["1"], ["2"]])})
    with pytest.raises(DataError, match="expected y of numbers"):
        svhn(ImageOptions(), folder)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([[1], [11]])})
    with pytest.raises(DataError, match="expected labels 0 to 9, found 1 to 11"):
        svhn(ImageOptions(), folder)


def test_nothing_there(folder):
    with pytest.raises(DataError, match="'svhn' were not found"):
        svhn(ImageOptions(), folder)
