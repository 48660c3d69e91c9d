"""Tiny-ImageNet: 200 classes of ImageNet, three channels; 64×64 as published, or 32×32 as parquet tables of JPEG.

The published validation images are the test set, because the published test images have no labels. Labels are the
sorted order of the wnids; with `classes` only labels below it are kept. Source: Stanford CS231n.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.cache import cached
from equipoise.data.jpeg import decode_images
from equipoise.data.source import Found, Pair, add_source, damaged, labelled, locate, require
from equipoise.data.tiny_tree import ARCHIVE, FOLDER, class_names, find_tree

if TYPE_CHECKING:
    import polars as pl

TABLES = ("tinyimagenet32_train.parquet", "tinyimagenet32_val.parquet", "tinyimagenet32_classes.parquet")
N_CLASSES = 200
MEAN = (0.4802, 0.4481, 0.3975)
STD = (0.2770, 0.2691, 0.2821)
STD_32 = (0.2522, 0.2449, 0.2593)
"""Of the 32×32 tables, measured: halving the side averages pixels, so they vary less."""


class TinyImagenetOptions(ImageOptions):
    """Which classes to keep."""

    name: str = "tiny-imagenet"
    classes: int = Field(N_CLASSES, ge=2, le=N_CLASSES, description="keep the labels below this number")


def _find(folder: Path) -> Found | None:
    return find_tree(folder) or _find_tables(folder)


def _find_tables(folder: Path) -> Found | None:
    files = tuple(folder / name for name in TABLES)
    if not any(path.is_file() for path in files):
        return None
    return Found(require(files), partial(_decode_tables, files))


def _decode_tables(files: tuple[Path, ...]) -> Pair:
    train, test, _ = files
    return read_table(train), read_table(test)


def read_table(path: Path) -> Images:
    """Images of a parquet table with columns `jpeg` and `label`."""
    import polars as pl

    table = _columns(path, ["jpeg", "label"])
    kinds = table.dtypes
    if kinds[0] != pl.Binary or not kinds[1].is_integer():
        raise damaged(path, f"expected columns of bytes and of integers, found {kinds[0]} and {kinds[1]}")
    rows = ((f"row {row}", bytes(blob)) for row, blob in enumerate(table["jpeg"]))
    pixels = decode_images(rows, len(table), str(path))
    return labelled(pixels, table["label"].to_numpy(), N_CLASSES, path)


def _columns(path: Path, names: list[str]) -> pl.DataFrame:
    import polars as pl

    try:
        table = pl.read_parquet(path, columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(path, f"it is not a whole parquet file with {' and '.join(names)} ({error})") from error
    n_null = sum(table.null_count().row(0))
    if n_null:
        raise damaged(path, f"expected no empty cell, found {n_null}")
    return table


def _names(found: Found) -> tuple[str, ...]:
    """The class names beside the images: the third table, or the words of the published tree."""
    first = found.files[0]
    if first.suffix == ".parquet":
        return tuple(_columns(found.files[2], ["label", "name"]).sort("label")["name"])
    return class_names(first if first.name == ARCHIVE else first.parent)


TINY_IMAGENET = add_source("tiny-imagenet", (f"{FOLDER}/", ARCHIVE, TABLES[0]), _find)


@DATASETS.register("tiny-imagenet", aliases=("tinyimagenet", "tiny_imagenet"), options=TinyImagenetOptions)
def tiny_imagenet(options: TinyImagenetOptions, folder: Path | None) -> Dataset:
    found = locate(TINY_IMAGENET, folder)
    train, test = (below(images, options.classes) for images in cached(TINY_IMAGENET.name, found))
    std = STD_32 if train.pixels.shape[2] == 32 else STD
    return Dataset("tiny-imagenet", train, test, _names(found)[: options.classes], MEAN, std)


def below(images: Images, classes: int) -> Images:
    """The images whose label is below `classes`; all of them stay as they are, without a copy."""
    index = np.flatnonzero(images.labels < classes)
    return images if len(index) == len(images) else images.take(index)
