from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.data.source import Found, Source, data_folder, joined, labelled, locate, read_bytes, require

from .writers import random_images

PIXELS = np.zeros((2, 1, 2, 2), np.uint8)


def find_marker(folder: Path) -> Found | None:
    path = folder / "marker"
    return Found((path,), lambda: pytest.fail("nothing to decode")) if path.is_file() else None


SOURCE = Source("toy", ("marker", "other"), find_marker)


def test_the_explicit_folder_wins_over_the_variable(folder, monkeypatch):
    assert data_folder(None) is None
    monkeypatch.setenv("EQUIPOISE_DATA", "/from/the/variable")
    assert data_folder(None) == Path("/from/the/variable")
    assert data_folder(folder) == folder


def test_an_empty_variable_is_no_folder(monkeypatch):
    monkeypatch.setenv("EQUIPOISE_DATA", "")
    assert data_folder(None) is None


def test_home_is_expanded(monkeypatch, folder):
    monkeypatch.setenv("HOME", str(folder))
    assert data_folder(Path("~/sets")) == folder / "sets"


@pytest.mark.parametrize("inside", ["", "toy"])
def test_found_in_the_folder_or_in_the_one_named_after_the_set(folder, inside):
    (folder / inside).mkdir(exist_ok=True)
    (folder / inside / "marker").touch()
    assert locate(SOURCE, folder).files == (folder / inside / "marker",)


def test_found_through_the_variable(folder, monkeypatch):
    (folder / "marker").touch()
    monkeypatch.setenv("EQUIPOISE_DATA", str(folder))
    assert locate(SOURCE, None).files == (folder / "marker",)


def test_not_found_says_why(folder):
    with pytest.raises(DataError, match="'toy' were not found") as caught:
        locate(SOURCE, folder)
    assert caught.value.where == f"looked in {folder} and {folder / 'toy'} for marker, other"
    with pytest.raises(DataError, match=f"there is no folder {folder / 'absent'}"):
        locate(SOURCE, folder / "absent")
    with pytest.raises(DataError, match="no folder was given and EQUIPOISE_DATA is not set") as caught:
        locate(SOURCE, None)
    assert "equipoise data fetch toy" in caught.value.fix


def test_require_names_what_is_missing(folder):
    (folder / "a").touch()
    assert require((folder / "a",)) == (folder / "a",)
    with pytest.raises(DataError, match="2 of 3 files are missing: b, c"):
        require((folder / "a", folder / "b", folder / "c"))


def test_an_unreadable_file_names_itself(folder):
    with pytest.raises(DataError, match="cannot use data: it cannot be read"):
        read_bytes(folder)


def test_labels_must_fit():
    images = labelled(PIXELS, np.array([0, 1], np.uint8), 2, "here")
    assert images.labels.dtype == np.int64
    with pytest.raises(DataError, match="found 3 labels, 2 images"):
        labelled(PIXELS, np.array([0, 1, 1]), 2, "here")
    with pytest.raises(DataError, match="expected labels 0 to 1, found -1 to 2"):
        labelled(PIXELS, np.array([-1, 2]), 2, "here")
    with pytest.raises(DataError, match="expected images, found 0"):
        labelled(PIXELS[:0], np.array([], np.int64), 2, "here")


def test_pixels_are_made_contiguous():
    turned = np.zeros((2, 2, 1, 2), np.uint8).transpose(0, 2, 1, 3)
    assert labelled(turned, np.array([0, 1]), 2, "here").pixels.flags["C_CONTIGUOUS"]


def test_joined_keeps_the_order(rng):
    first, second = (random_images(rng, 2, 3, (1, 2, 2)) for _ in range(2))
    both = joined([first, second])
    assert both.labels.tolist() == first.labels.tolist() + second.labels.tolist()
    assert np.array_equal(both.pixels[2:], second.pixels)
