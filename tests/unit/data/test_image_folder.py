from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data import image_folder as module
from equipoise.data.image_folder import FolderOptions, image_folder

from .pictures import write_folder, write_picture

PARTED = {"train/cat": 3, "train/dog": 2, "test/cat": 1, "test/dog": 2}


def read(folder, **options):
    return image_folder(FolderOptions(folder="pets", **options), folder)


def test_train_and_test_by_class(folder):
    write_folder(folder / "pets", PARTED)
    data = read(folder)
    assert data.classes == ("cat", "dog")
    assert data.train.pixels.shape == (5, 3, 4, 6)
    assert data.train.labels.tolist() == [0, 0, 0, 1, 1]
    assert data.test.labels.tolist() == [0, 1, 1]
    assert data.train.pixels[:, 0, 3, 5].tolist() == [40, 41, 42, 120, 121]
    assert data.test.pixels[:, 0, 3, 5].tolist() == [40, 120, 121]
    shares = data.train.pixels / 255
    assert np.allclose(data.mean, shares.mean(axis=(0, 2, 3)))
    assert np.allclose(data.std, shares.std(axis=(0, 2, 3)))
    assert DATASETS.find("image-folder").name == "folder"


def test_classes_alone_have_a_share_held_out_by_a_fixed_draw(folder):
    write_folder(folder / "pets", {"cat": 10, "dog": 20, "owl": 3})
    data = read(folder)
    assert np.bincount(data.test.labels).tolist() == [2, 4, 1]
    assert np.bincount(data.train.labels).tolist() == [8, 16, 2]
    assert np.array_equal(read(folder).test.pixels, data.test.pixels)
    assert np.bincount(read(folder, test_share=0.5).test.labels).tolist() == [5, 10, 2]


def test_grey_and_resized_pictures(folder):
    write_folder(folder / "pets", {"cat": 2, "dog": 2}, mode="L")
    write_picture(folder / "pets" / "dog" / "large.png", 120, size=(30, 20), mode="L")
    data = read(folder, size=8)
    assert data.train.pixels.shape == (3, 1, 8, 8)
    assert len(data.mean) == len(data.std) == 1


def test_the_folder_itself_hidden_files_and_other_formats(folder):
    write_folder(folder, PARTED, suffix="JPG")
    (folder / ".DS_Store").touch()
    (folder / "train" / "cat" / ".hidden").touch()
    assert len(image_folder(FolderOptions(folder="."), folder).train) == 5


def test_a_second_reading_comes_from_the_cache_and_a_changed_file_does_not(folder, cache, monkeypatch):
    write_folder(folder / "pets", PARTED)
    first = read(folder)
    assert list(cache.iterdir())
    monkeypatch.setattr(module, "decode_pictures", lambda *_: pytest.fail("decoded again"))
    assert np.array_equal(read(folder).train.pixels, first.train.pixels)
    monkeypatch.undo()
    monkeypatch.setenv("EQUIPOISE_CACHE", str(cache))
    write_picture(folder / "pets" / "train" / "cat" / "00.png", 77)
    assert read(folder).train.pixels[0, 0, 3, 5] == 77


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"train/cat": 2, "train/dog": 2, "test/owl": 1}, "1 classes of test are not in train, as 'owl'"),
        ({"train/cat": 2, "test/cat": 1}, "there is one class, 'cat'"),
        ({"train/cat": 2, "train/dog": 2}, "has a folder 'train' and no folder 'test'"),
        ({"test/cat": 2, "test/dog": 2}, "has a folder 'test' and no folder 'train'"),
        ({"cat": 3, "dog": 1}, r"class 1 \('dog'\) has 1, needed: 2"),
        ({"cat": 3}, "there is one class, 'cat'"),
    ],
)
def test_folders_that_do_not_fit(folder, counts, message):
    write_folder(folder / "pets", counts)
    with pytest.raises(DataError, match=message) as caught:
        read(folder)
    assert str(folder / "pets") in caught.value.where
    assert caught.value.fix


def test_an_empty_class_is_named(folder):
    write_folder(folder / "pets", PARTED)
    (folder / "pets" / "train" / "owl").mkdir()
    with pytest.raises(DataError, match="class 'owl' has no images") as caught:
        read(folder)
    assert caught.value.where == str(folder / "pets" / "train" / "owl")


def test_no_images_at_all(folder):
    (folder / "pets").mkdir()
    with pytest.raises(DataError, match="there are no images in pets"):
        read(folder)


def test_files_that_are_no_images_are_named(folder):
    write_folder(folder / "pets", PARTED)
    (folder / "pets" / "train" / "cat" / "notes.txt").touch()
    with pytest.raises(DataError, match=r"class 'cat' holds notes\.txt, which is not an image file"):
        read(folder)
    (folder / "pets" / "train" / "cat" / "notes.txt").rename(folder / "pets" / "train" / "loose.png")
    with pytest.raises(DataError, match=r"1 files lie beside the folders of classes, as loose\.png"):
        read(folder)


def test_a_broken_file_leaves_nothing_in_the_cache(folder, cache):
    write_folder(folder / "pets", PARTED)
    (folder / "pets" / "test" / "dog" / "00.png").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"dog/00\.png \(6 bytes\) is not a whole image"):
        read(folder)
    assert not cache.exists()


def test_a_share_beside_a_test_part_would_do_nothing(folder):
    write_folder(folder / "pets", PARTED)
    with pytest.raises(DataError, match=r"data\.test_share=0\.3 would do nothing"):
        read(folder, test_share=0.3)
