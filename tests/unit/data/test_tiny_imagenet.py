from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.tiny_imagenet import STD, STD_32, TinyImagenetOptions, tiny_imagenet

from .writers import jpeg, tiny_tree, write_files, write_tiny_zip


def write_tables(folder, size: int = 32) -> None:
    table = pl.DataFrame(
        {"jpeg": [jpeg(shade, size) for shade in (10, 100, 200, 250)], "label": [0, 1, 2, 1]},
        schema_overrides={"label": pl.UInt8},
    )
    table.write_parquet(folder / "tinyimagenet32_train.parquet")
    table[1:3].write_parquet(folder / "tinyimagenet32_val.parquet")
    classes = pl.DataFrame({"label": [2, 0, 1], "wnid": ["n3", "n1", "n2"], "name": ["owl", "cat", "dog"]})
    classes.write_parquet(folder / "tinyimagenet32_classes.parquet")


def test_tables(folder):
    write_tables(folder)
    dataset = tiny_imagenet(TinyImagenetOptions(), folder)
    assert dataset.train.pixels[:, 1, 5, 5].tolist() == [10, 100, 200, 250]
    assert dataset.train.labels.tolist() == [0, 1, 2, 1]
    assert dataset.test.labels.tolist() == [1, 2]
    assert dataset.train.pixels.shape == (4, 3, 32, 32)
    assert dataset.classes == ("cat", "dog", "owl")
    assert dataset.std == STD_32


def test_fewer_classes_keep_the_labels_below(folder):
    write_tables(folder)
    dataset = tiny_imagenet(TinyImagenetOptions(classes=2), folder)
    assert dataset.train.labels.tolist() == [0, 1, 1]
    assert dataset.train.pixels[:, 0, 0, 0].tolist() == [10, 100, 250]
    assert dataset.test.labels.tolist() == [1]
    assert dataset.classes == ("cat", "dog")


def test_classes_are_chosen_after_the_cache(folder, cache):
    write_tables(folder)
    tiny_imagenet(TinyImagenetOptions(classes=2), folder)
    first = sorted(cache.iterdir())
    assert len(tiny_imagenet(TinyImagenetOptions(), folder).train) == 4
    assert sorted(cache.iterdir()) == first


@pytest.mark.parametrize("is_zip", [True, False])
def test_as_published(folder, is_zip):
    if is_zip:
        write_tiny_zip(folder / "tiny-imagenet-200.zip", tiny_tree())
    else:
        write_files(folder / "tiny-imagenet-200", tiny_tree())
    dataset = tiny_imagenet(TinyImagenetOptions(), folder)
    assert dataset.classes == ("dark thing", "bright thing, lamp")
    assert dataset.train.labels.tolist() == [0, 1, 1]
    assert dataset.std == STD


@pytest.mark.parametrize("classes", [1, 201])
def test_classes_out_of_range(classes):
    with pytest.raises(ValidationError):
        TinyImagenetOptions(classes=classes)


def test_a_missing_table(folder):
    write_tables(folder)
    (folder / "tinyimagenet32_classes.parquet").unlink()
    with pytest.raises(DataError, match=r"1 of 3 files are missing: tinyimagenet32_classes\.parquet"):
        tiny_imagenet(TinyImagenetOptions(), folder)


@pytest.mark.parametrize("keep", [0, 3, 100, -10])
def test_a_truncated_table_names_itself(folder, keep):
    write_tables(folder)
    path = folder / "tinyimagenet32_val.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"tinyimagenet32_val\.parquet: it is not a whole parquet file"):
        tiny_imagenet(TinyImagenetOptions(), folder)


def test_other_columns_empty_cells_and_damaged_images_are_refused(folder):
    write_tables(folder)
    path = folder / "tinyimagenet32_val.parquet"
    pl.DataFrame({"png": [b""], "label": [0]}).write_parquet(path)
    with pytest.raises(DataError, match="jpeg and label"):
        tiny_imagenet(TinyImagenetOptions(), folder)
    pl.DataFrame({"jpeg": ["text"], "label": [0.5]}).write_parquet(path)
    with pytest.raises(DataError, match="expected columns of bytes and of integers, found String and Float64"):
        tiny_imagenet(TinyImagenetOptions(), folder)
    pl.DataFrame({"jpeg": [jpeg(1), None], "label": [0, 1]}).write_parquet(path)
    with pytest.raises(DataError, match="expected no empty cell, found 1"):
        tiny_imagenet(TinyImagenetOptions(), folder)
    pl.DataFrame({"jpeg": [jpeg(1), b"?"], "label": [0, 1]}).write_parquet(path)
    with pytest.raises(DataError, match=r"row 1 \(1 bytes\) is not a whole JPEG"):
        tiny_imagenet(TinyImagenetOptions(), folder)


def test_real_tiny_imagenet(real_data):
    entry = DATASETS.find("tiny-imagenet")
    dataset = entry.make(TinyImagenetOptions(), real_data)
    assert np.bincount(dataset.train.labels).tolist() == [250] * 200
    assert np.bincount(dataset.test.labels).tolist() == [50] * 200
    shares = dataset.train.pixels.astype(np.float32) / 255
    assert np.allclose(shares.mean(axis=(0, 2, 3), dtype=float), (0.4803, 0.4485, 0.3983), atol=1e-4)
    assert np.allclose(shares.std(axis=(0, 2, 3), dtype=float), STD_32, atol=1e-4)
    half = entry.make(TinyImagenetOptions(classes=100), real_data)
    assert (len(half.train), len(half.test), len(half.classes)) == (25000, 5000, 100)
    assert half.classes[0] == "goldfish, Carassius auratus"
