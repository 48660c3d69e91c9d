from __future__ import annotations

import pickle

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.npz import NpzOptions, npz

from .pictures import write_npz


@pytest.fixture
def grey(rng):
    return rng.integers(0, 256, (20, 5, 4), dtype=np.uint8)


LABELS = np.arange(20) % 2


def read(folder, **options):
    return npz(NpzOptions(file="x.npz", **options), folder)


def four(images, labels, names=("train_images", "train_labels", "test_images", "test_labels")):
    return dict(zip(names, (images[:12], labels[:12], images[12:], labels[12:]), strict=True))


@pytest.mark.parametrize(
    "names",
    [("train_images", "train_labels", "test_images", "test_labels"), ("x_train", "y_train", "x_test", "y_test")],
)
def test_train_and_test(folder, grey, names):
    write_npz(folder / "x.npz", **four(grey, LABELS, names))
    data = read(folder)
    assert np.array_equal(data.train.pixels, grey[:12, None])
    assert np.array_equal(data.test.labels, LABELS[12:])
    assert data.train.labels.dtype == np.int64
    assert data.classes == ("0", "1")
    assert np.allclose(data.mean, (grey[:12] / 255).mean())
    assert np.allclose(data.std, (grey[:12] / 255).std())
    assert DATASETS.find("arrays").name == "npz"


def test_images_alone_have_a_share_held_out(folder, grey):
    write_npz(folder / "x.npz", images=grey, labels=LABELS[:, None].astype(np.uint8), classes=["cat", "dog"])
    data = read(folder, test_share=0.3)
    assert np.bincount(data.test.labels).tolist() == [3, 3]
    assert data.classes == ("cat", "dog")
    assert len(npz(NpzOptions(), folder / "x.npz").test) == 4


def test_channels_first_and_last_give_the_same(folder, rng):
    pixels = rng.integers(0, 256, (20, 3, 5, 4), dtype=np.uint8)
    write_npz(folder / "x.npz", **four(pixels, LABELS))
    first = read(folder)
    write_npz(folder / "x.npz", **four(pixels.transpose(0, 2, 3, 1), LABELS))
    assert np.array_equal(read(folder).train.pixels, first.train.pixels)
    assert first.train.pixels.shape == (12, 3, 5, 4)


def test_an_ambiguous_shape_asks_which_axis_is_the_channels(folder, rng):
    pixels = rng.integers(0, 256, (20, 3, 5, 3), dtype=np.uint8)
    write_npz(folder / "x.npz", **four(pixels, LABELS))
    with pytest.raises(DataError, match="can be read in two ways") as caught:
        read(folder)
    assert "data.layout" in caught.value.fix
    assert read(folder, layout="chw").train.pixels.shape == (12, 3, 5, 3)
    assert read(folder, layout="hwc").train.pixels.shape == (12, 3, 3, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_labels": None}, "missing: test_labels"),
        ({"train_images": np.zeros((12, 5, 4), np.float32)}, "'train_images' holds float32, images are uint8"),
        ({"train_images": np.zeros((12, 20), np.uint8)}, r"'train_images' has shape \(12, 20\)"),
        ({"train_images": np.zeros((12, 5, 4, 2), np.uint8)}, r"shape \(12, 5, 4, 2\)"),
        ({"test_images": np.zeros((8, 6, 4), np.uint8)}, r"train images are \(1, 5, 4\) and test images \(1, 6, 4\)"),
        ({"train_labels": LABELS[:12] / 2}, "'train_labels' holds float64, labels are whole numbers"),
        ({"train_labels": np.array(["a"] * 12)}, "'train_labels' holds <U1"),
        ({"train_labels": LABELS[:11]}, r"'train_labels' has shape \(11,\) beside 12 images"),
        ({"train_labels": LABELS[:12] - 1}, "'train_labels' has labels from -1 to 0"),
        ({"train_labels": np.full(12, 2**63, np.uint64)}, "has labels from 9223372036854775808"),
        ({"train_labels": LABELS[:12] * 0}, "8 test images are of classes|too few training images"),
        ({"train_labels": LABELS[:12] + 1}, r"class 0 \('0'\) has 0, needed: 1"),
        ({"test_labels": LABELS[12:] + 1}, r"class 2 \('2'\) has 0"),
        ({"classes": np.array(["cat"])}, "there are 1 names of classes, and labels up to 1"),
        ({"classes": np.array([1, 2])}, "'classes' is int64"),
        ({"classes": np.array(["a", "b", "c"])}, r"class 2 \('c'\) has 0"),
        ({"classes": np.array(["a", 1], dtype=object)}, "'classes' holds Python objects, which are never unpickled"),
        ({"train_images": np.zeros((0, 5, 4), np.uint8), "train_labels": LABELS[:0]}, "'train_images' has no images"),
        ({"train_images": np.zeros((12, 5, 4), np.uint8)}, "every training pixel of channel 0 is 0"),
    ],
)
def test_arrays_that_do_not_fit(folder, grey, changes, message):
    arrays = {key: value for key, value in {**four(grey, LABELS), **changes}.items() if value is not None}
    write_npz(folder / "x.npz", **arrays)
    with pytest.raises(DataError, match=message) as caught:
        read(folder)
    assert caught.value.where == str(folder / "x.npz")
    assert caught.value.fix
    assert caught.value.exit_code == 2


def test_one_class_only(folder, grey):
    write_npz(folder / "x.npz", images=grey, labels=LABELS * 0)
    with pytest.raises(DataError, match="there is one class, '0'"):
        read(folder)


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", pickle.dumps(Trap())], ids=["empty", "zip", "pickle"])
def test_files_that_are_no_archive(folder, content):
    (folder / "x.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"cannot use x\.npz: it is not a whole \.npz file"):
        read(folder)


def test_a_pickled_array_is_never_run(folder, grey):
    labels = np.empty(20, dtype=object)
    labels[:] = [Trap()] * 20
    np.savez(folder / "x.npz", images=grey, labels=labels)
    with pytest.raises(DataError, match="'labels' holds Python objects"):
        read(folder)


def test_one_nameless_array(folder, grey):
    np.save(folder / "x.npy", grey)
    (folder / "x.npy").rename(folder / "x.npz")
    with pytest.raises(DataError, match="one array without a name"):
        read(folder)


def test_a_damaged_member_is_named(folder, grey):
    np.savez_compressed(folder / "x.npz", **four(grey, LABELS))
    content = bytearray((folder / "x.npz").read_bytes())
    content[100:140] = b"\0" * 40
    (folder / "x.npz").write_bytes(bytes(content))
    with pytest.raises(DataError, match="'train_images' cannot be read"):
        read(folder)


def test_a_share_beside_a_test_part_would_do_nothing(folder, grey):
    write_npz(folder / "x.npz", **four(grey, LABELS))
    with pytest.raises(DataError, match=r"data\.test_share=0\.3 would do nothing"):
        read(folder, test_share=0.3)
