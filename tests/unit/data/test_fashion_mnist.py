from __future__ import annotations

import gzip

import numpy as np
import pytest

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.fashion_mnist import fashion_mnist, read_idx

from .writers import idx, npz, random_images, write_fashion, write_files, xz

OPTIONS = ImageOptions()


@pytest.fixture
def parts(rng):
    return [random_images(rng, count, 10, (1, 28, 28)) for count in (6, 4)]


def check_equal(dataset, parts) -> None:
    train, test = parts
    assert np.array_equal(dataset.train.pixels, train.pixels)
    assert np.array_equal(dataset.train.labels, train.labels)
    assert np.array_equal(dataset.test.pixels, test.pixels)
    assert np.array_equal(dataset.test.labels, test.labels)
    assert dataset.train.pixels.shape[1] == 1
    assert len(dataset.mean) == len(dataset.std) == 3


@pytest.mark.parametrize("inside", ["", "FashionMNIST/raw", "fashion-mnist"])
@pytest.mark.parametrize("zipped", [True, False])
def test_as_published(folder, parts, inside, zipped):
    write_fashion(folder / inside, *parts, zipped=zipped)
    check_equal(fashion_mnist(OPTIONS, folder), parts)


def test_packed(folder, parts):
    labels = npz(**{name: part.labels.astype(np.uint8) for name, part in zip(("train", "test"), parts, strict=True)})
    files = {
        f"fashion_mnist_{name}_images.npy.xz": xz(part.pixels[:, 0])
        for name, part in zip(("train", "test"), parts, strict=True)
    }
    write_files(folder, files | {"fashion_mnist_labels.npz": labels})
    check_equal(fashion_mnist(OPTIONS, folder), parts)


@pytest.mark.parametrize("missing", ["train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"])
def test_a_missing_file_is_an_error(folder, parts, missing):
    write_fashion(folder, *parts)
    (folder / missing).unlink()
    with pytest.raises(DataError, match=f"1 of 4 files are missing: {missing}"):
        fashion_mnist(OPTIONS, folder)


def test_a_missing_packed_file_is_an_error(folder):
    write_files(folder, {"fashion_mnist_labels.npz": npz()})
    with pytest.raises(DataError, match="2 of 3 files are missing"):
        fashion_mnist(OPTIONS, folder)


def test_truncated_files_say_the_sizes(folder):
    path = folder / "images"
    path.write_bytes(idx(np.zeros((2, 28, 28), np.uint8))[:-1])
    with pytest.raises(DataError, match=rf"expected {16 + 2 * 784} bytes for shape \[2, 28, 28\], found {16 + 1567}"):
        read_idx(path, 3)


def test_a_cut_or_false_gzip_names_itself(folder):
    path = folder / "images.gz"
    whole = gzip.compress(idx(np.zeros((2, 28, 28), np.uint8)))
    for content in (whole[:-10], b"<html>", b"\x1f\x8b\x08"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"images\.gz: it is not a whole gzip file"):
            read_idx(path, 3)


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\0\0\x0d\x03" + bytes(12), b"\0\0\x08\x03" + bytes(4)])
def test_another_header_is_refused(folder, content):
    (folder / "images").write_bytes(content)
    with pytest.raises(DataError, match="expected an idx header of 3 axes"):
        read_idx(folder / "images", 3)


def test_labels_that_do_not_fit_the_images(folder, parts):
    write_fashion(folder, *parts)
    write_files(folder, {"t10k-labels-idx1-ubyte.gz": gzip.compress(idx(np.zeros(9, np.uint8)))})
    with pytest.raises(DataError, match="found 9 labels, 4 images"):
        fashion_mnist(OPTIONS, folder)


def test_real_fashion_mnist(real_data):
    dataset = DATASETS.find("fmnist").make(OPTIONS, real_data)
    assert np.bincount(dataset.train.labels).tolist() == [6000] * 10
    assert np.bincount(dataset.test.labels).tolist() == [1000] * 10
    assert dataset.train.pixels.shape == (60000, 1, 28, 28)
    shares = dataset.train.pixels.astype(np.float32) / 255
    assert np.isclose(shares.mean(dtype=float), 0.2860, atol=1e-4)
    assert np.isclose(shares.std(dtype=float), 0.3530, atol=1e-4)
