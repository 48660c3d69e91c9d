from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.tiny_tree import class_names, decode, find_tree

from .writers import tiny_tree, write_files, write_tiny_zip


@pytest.fixture(params=["folder", "zip"])
def write(request, folder):
    """Write a tree as a folder or as a zip, and return where."""

    def to_folder(tree):
        write_files(folder / "tiny-imagenet-200", tree)
        return folder / "tiny-imagenet-200"

    def to_zip(tree):
        write_tiny_zip(folder / "tiny-imagenet-200.zip", tree)
        return folder / "tiny-imagenet-200.zip"

    return {"folder": to_folder, "zip": to_zip}[request.param]


def test_labels_are_the_sorted_wnids_and_val_comes_from_its_annotations(write, folder):
    path = write(tiny_tree())
    found = find_tree(folder)
    assert found is not None
    train, test = found.decode()
    assert train.labels.tolist() == [0, 1, 1]
    assert np.abs(train.pixels[:, 0].mean(axis=(1, 2)) - [10, 200, 230]).max() < 3
    assert test.labels.tolist() == [1, 0]
    assert np.abs(test.pixels[:, 0].mean(axis=(1, 2)) - [205, 15]).max() < 3
    assert class_names(path) == ("dark thing", "bright thing, lamp")


def test_the_files_of_a_folder_are_all_that_decides_its_content(folder):
    tree = tiny_tree()
    write_files(folder / "tiny-imagenet-200", tree)
    found = find_tree(folder)
    assert found is not None
    names = {path.relative_to(folder / "tiny-imagenet-200").as_posix() for path in found.files}
    assert names == {name for name in tree if name.endswith(".JPEG")} | {
        "wnids.txt", "words.txt", "val/val_annotations.txt",
    }  # fmt: skip


def test_no_tree(folder):
    assert find_tree(folder) is None


def test_a_folder_without_its_lists_is_refused(folder):
    write_files(folder / "tiny-imagenet-200", {"wnids.txt": b"n01\n"})
    with pytest.raises(DataError, match=r"2 of 3 files are missing: words\.txt, val_annotations\.txt"):
        find_tree(folder)


def test_a_zip_without_its_lists_is_refused(folder):
    write_tiny_zip(folder / "tiny-imagenet-200.zip", {"words.txt": b""})
    with pytest.raises(DataError, match=r"expected wnids\.txt inside"):
        decode(folder / "tiny-imagenet-200.zip")


def test_a_listed_image_that_is_missing(write):
    tree = tiny_tree()
    del tree["val/images/val_1.JPEG"]
    with pytest.raises(DataError, match=r"1 of 2 listed images are missing, first val/images/val_1\.JPEG"):
        decode(write(tree))


def test_a_class_that_is_not_listed(write):
    tree = tiny_tree() | {"wnids.txt": b"n01\n"}
    with pytest.raises(DataError, match=r"expected only classes of wnids\.txt, found n02"):
        decode(write(tree))


def test_a_damaged_image_is_named(write):
    tree = tiny_tree() | {"train/n01/images/n01_0.JPEG": b"\xff\xd8"}
    with pytest.raises(DataError, match=r"train/n01/images/n01_0\.JPEG \(2 bytes\) is not a whole JPEG"):
        decode(write(tree))


def test_no_training_images(write):
    tree = {name: content for name, content in tiny_tree().items() if not name.startswith("train/")}
    with pytest.raises(DataError, match="expected images, found 0"):
        decode(write(tree))


def test_a_truncated_zip_and_a_wrong_byte(folder):
    path = folder / "tiny-imagenet-200.zip"
    write_tiny_zip(path, tiny_tree())
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(DataError, match="not a whole zip file"):
        decode(path)
    at = whole.index(b"n02\nn01\n")
    path.write_bytes(whole[:at] + b"x" + whole[at + 1 :])
    with pytest.raises(DataError, match=r"wnids\.txt cannot be read from it"):
        decode(path)
