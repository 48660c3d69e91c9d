from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.packed import CHUNK, read_labels, read_npy_xz, read_packed, unpack

from .writers import npz, pack, random_images, xz


def test_one_pixel_by_hand():
    residuals = np.array([140, 50, 100], np.uint8).reshape(3, 1, 1, 1)
    assert unpack(residuals).reshape(3).tolist() == [140 - 128 + 50, 50, (100 - 128 + 50) % 256]


def test_a_green_row_predicts_from_the_left_and_the_first_column_from_above():
    green = np.array([[10, 12], [20, 25]])
    residuals = np.zeros((3, 1, 2, 2), np.uint8)
    residuals[1, 0] = [[10, 12 - 10], [20 - 10, 25 - min(max(20 + 12 - 10, 12), 20)]]
    assert np.array_equal(unpack(residuals)[0, 1], green)


def test_random_pixels_come_back_bit_for_bit(rng):
    pixels = random_images(rng, 5, 10, (3, 6, 7)).pixels
    assert np.array_equal(unpack(pack(pixels)), pixels)


def test_chunks_do_not_show(rng):
    pixels = random_images(rng, CHUNK + 3, 10, (3, 2, 2)).pixels
    assert np.array_equal(unpack(pack(pixels)), pixels)


def test_no_images_are_no_images():
    assert unpack(np.empty((3, 0, 4, 4), np.uint8)).shape == (0, 3, 4, 4)


def test_a_packed_file_is_read(rng, folder):
    pixels = random_images(rng, 2, 10, (3, 4, 4)).pixels
    (folder / "x.npy.xz").write_bytes(xz(pack(pixels)))
    assert np.array_equal(read_packed(folder / "x.npy.xz"), pixels)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: b"not xz", lambda data: b""])
def test_a_damaged_file_names_itself(rng, folder, damage):
    path = folder / "x.npy.xz"
    path.write_bytes(damage(xz(pack(random_images(rng, 2, 10, (3, 4, 4)).pixels))))
    with pytest.raises(DataError, match=r"x\.npy\.xz"):
        read_packed(path)


def test_xz_of_something_else_is_refused(folder):
    import lzma

    (folder / "x.npy.xz").write_bytes(lzma.compress(b"hello"))
    with pytest.raises(DataError, match="not a whole"):
        read_npy_xz(folder / "x.npy.xz", 4)


def test_wrong_axes_type_and_planes_are_refused(folder):
    path = folder / "x.npy.xz"
    path.write_bytes(xz(np.zeros((2, 3), np.uint8)))
    with pytest.raises(DataError, match=r"expected 4 axes of uint8, found shape \(2, 3\)"):
        read_packed(path)
    path.write_bytes(xz(np.zeros((3, 1, 2, 2))))
    with pytest.raises(DataError, match="float64"):
        read_packed(path)
    path.write_bytes(xz(np.zeros((2, 1, 2, 2), np.uint8)))
    with pytest.raises(DataError, match="expected 3 planes, found 2"):
        read_packed(path)


def test_labels_are_read_and_damage_is_named(folder):
    path = folder / "labels.npz"
    path.write_bytes(npz(train=np.array([1, 2], np.uint8), wide=np.zeros((2, 2), np.uint8)))
    assert read_labels(path, "train").tolist() == [1, 2]
    with pytest.raises(DataError, match="array 'test'"):
        read_labels(path, "test")
    with pytest.raises(DataError, match="one axis"):
        read_labels(path, "wide")
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=r"labels\.npz"):
        read_labels(path, "train")


def test_pickled_labels_are_refused(folder):
    path = folder / "labels.npz"
    path.write_bytes(npz(train=np.array([{}], object)))
    with pytest.raises(DataError, match=r"labels\.npz"):
        read_labels(path, "train")
