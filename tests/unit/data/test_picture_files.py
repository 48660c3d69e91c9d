from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from equipoise.core.errors import DataError
from equipoise.data.picture_files import decode_pictures

from .pictures import write_picture


def test_colour_keeps_three_channels_height_first(folder):
    pixels = decode_pictures([write_picture(folder / "a.png", 100)], None)
    assert pixels.shape == (1, 3, 4, 6)
    assert pixels[0, :, 0, 0].tolist() == [255, 255, 255]
    assert pixels[0, :, 3, 5].tolist() == [100, 50, 0]


def test_grey_pictures_stay_one_channel(folder):
    files = [write_picture(folder / f"{i}.png", 10 * i, mode="L") for i in range(3)]
    Image.new("1", (6, 4), 1).save(folder / "bits.png")
    pixels = decode_pictures([*files, folder / "bits.png"], None)
    assert pixels.shape == (4, 1, 4, 6)
    assert pixels[:, 0, 3, 5].tolist() == [0, 10, 20, 255]


def test_grey_among_colour_becomes_colour(folder):
    files = [write_picture(folder / "a.png", 10, mode="L"), write_picture(folder / "b.png", 100)]
    pixels = decode_pictures(files, None)
    assert pixels.shape == (2, 3, 4, 6)
    assert pixels[0, :, 3, 5].tolist() == [10, 10, 10]


def test_transparency_is_dropped(folder):
    assert decode_pictures([write_picture(folder / "a.png", 100, mode="RGBA")], None).shape == (1, 3, 4, 6)


def test_a_size_resizes_all(folder):
    files = [write_picture(folder / "a.png", 100), write_picture(folder / "b.png", 100, size=(9, 9))]
    pixels = decode_pictures(files, 8)
    assert pixels.shape == (2, 3, 8, 8)
    assert pixels[:, 0, 7, 7].tolist() == [100, 100]


def test_mixed_sizes_name_the_odd_file(folder):
    files = [write_picture(folder / f"{i}.png", 100, size=(6, 4 + (i == 1))) for i in range(4)]
    with pytest.raises(DataError, match=r"2 sizes: 3 of 4 are 6×4, 1\.png is 6×5") as caught:
        decode_pictures(files, None)
    assert caught.value.where == str(files[1])
    assert "data.size" in caught.value.fix


@pytest.mark.parametrize("content", [b"", b"not a picture", "cut"])
def test_a_broken_file_is_named(folder, content):
    good = write_picture(folder / "cat" / "good.png", 100, size=(40, 40))
    bad = folder / "cat" / "bad.png"
    bad.write_bytes(good.read_bytes()[:60] if content == "cut" else content)
    with pytest.raises(DataError, match=r"cat/bad\.png \(\d+ bytes\) is not a whole image") as caught:
        decode_pictures([good, bad], None)
    assert caught.value.where == str(bad)


def test_sixteen_bits_are_refused(folder):
    Image.fromarray(np.full((4, 4), 40_000, np.uint16)).save(folder / "deep.png")
    with pytest.raises(DataError, match=r"deep\.png has more than 8 bits per pixel"):
        decode_pictures([folder / "deep.png"], None)
