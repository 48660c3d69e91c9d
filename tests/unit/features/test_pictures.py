from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest
from PIL import Image

from equipoise.core.errors import ConfigError, DataError
from equipoise.features.pictures import open_picture, pixels_of, read_pictures
from tests.unit.features.small_encoders import save_pictures

RED, BLUE = (255, 0, 0), (0, 0, 255)


def test_a_folder_of_files_named_by_id(tmp_path):
    folder = save_pictures(tmp_path / "posters", {"7.png": RED, "10.JPG": BLUE, "3.webp": RED, "5.jpeg": BLUE})
    (folder / "notes.txt").write_text("not a picture")
    (folder / "8.png").mkdir()
    items = read_pictures(folder, None, None)
    assert dict(zip(items.ids.tolist(), [file.name for file in items.things], strict=True)) == {
        7: "7.png",
        10: "10.JPG",
        3: "3.webp",
        5: "5.jpeg",
    }


def test_a_folder_without_pictures_or_with_two_of_one_item(tmp_path):
    with pytest.raises(DataError, match="there is no picture"):
        read_pictures(tmp_path, None, None)
    save_pictures(tmp_path, {"a.png": RED, "a.jpg": RED})
    with pytest.raises(DataError, match="more than once: a"):
        read_pictures(tmp_path, None, None)
    with pytest.raises(ConfigError, match="is a folder, which has no columns"):
        read_pictures(tmp_path, "item_id", None)


def test_a_table_of_paths(tmp_path):
    save_pictures(tmp_path / "posters", {"x.png": RED})
    (tmp_path / "items.csv").write_text("item_id,path,other\n1,posters/x.png,x\n2,,x\n3,gone.png,x\n")
    items = read_pictures(tmp_path / "items.csv", None, None)
    assert items.things == [tmp_path / "posters" / "x.png", tmp_path / "gone.png"]
    assert items.ids.tolist() == [1, 3]
    assert items.without.tolist() == [2]
    with pytest.raises(DataError, match="did you mean 'path'") as caught:
        read_pictures(tmp_path / "items.csv", None, "paht")
    assert "--path" in caught.value.fix


def test_a_column_that_holds_no_paths(tmp_path):
    pl.DataFrame({"item_id": [1], "path": [1.5]}).write_parquet(tmp_path / "items.parquet")
    with pytest.raises(DataError, match="column 'path' holds Float64"):
        read_pictures(tmp_path / "items.parquet", None, None)


def test_the_stamp_changes_with_a_file(tmp_path):
    folder = save_pictures(tmp_path / "posters", {"1.png": RED})
    before = read_pictures(folder, None, None).stamp
    assert read_pictures(folder, None, None).stamp == before
    os.utime(folder / "1.png", ns=(1, 1))
    assert read_pictures(folder, None, None).stamp != before


def test_pixels_are_resized_to_height_and_width_between_0_and_1(tmp_path):
    save_pictures(tmp_path, {"1.png": RED})
    pixels = pixels_of(tmp_path / "1.png", 8, 6)
    assert pixels.shape == (3, 8, 6)
    assert pixels.dtype == np.float32
    assert pixels.reshape(3, -1).mean(axis=1).tolist() == [1, 0, 0]


@pytest.mark.parametrize("mode", ["L", "P", "1", "CMYK"])
def test_every_mode_becomes_rgb(tmp_path, mode):
    suffix = "jpg" if mode == "CMYK" else "png"
    Image.new("RGB", (4, 4), "white").convert(mode).save(tmp_path / f"a.{suffix}")
    assert open_picture(tmp_path / f"a.{suffix}").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(tmp_path, mode):
    if mode == "P":
        Image.new("P", (4, 4), 0).save(tmp_path / "a.png", transparency=b"\0" * 256)
    else:
        Image.new(mode, (4, 4), (0,) * len(mode)).save(tmp_path / "a.png")
    assert open_picture(tmp_path / "a.png").getpixel((0, 0)) == (255, 255, 255)


def test_a_picture_stands_upright(tmp_path):
    lying = Image.new("RGB", (4, 2), "white")
    exif = lying.getexif()
    exif[0x0112] = 6
    lying.save(tmp_path / "a.jpg", exif=exif)
    assert open_picture(tmp_path / "a.jpg").size == (2, 4)


def test_pictures_that_cannot_be_read_are_named(tmp_path):
    whole = save_pictures(tmp_path, {"1.png": RED}) / "1.png"
    (tmp_path / "cut.png").write_bytes(whole.read_bytes()[:45])
    (tmp_path / "text.png").write_text("not a picture")
    Image.new("I;16", (4, 4), 40000).save(tmp_path / "deep.png")
    Image.new("RGB", (4, 4)).save(tmp_path / "other.png", format="BMP")
    for name in ("cut.png", "text.png", "deep.png", "gone.png", "other.png"):
        with pytest.raises(DataError, match=f"the picture {name} cannot be read") as caught:
            open_picture(tmp_path / name)
        assert "--skip-damaged" in caught.value.fix
