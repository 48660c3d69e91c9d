"""Rows of numbers and categories with one label each: two embedded sets, and any CSV, TSV or Parquet table.

    number     x_j as it is; a network sees (x_j − mean_j) / std_j, of the training rows
    category   one column per level, 1 where the row has it

A table says which columns are categories; every other column but the label must hold a number in every row.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from equipoise.config.blocks import SampleOptions
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import DATASETS, suggestion
from equipoise.core.values import Labels, Samples
from equipoise.data.columns import PARQUET, SEPARATORS, read_table
from equipoise.data.fixed_test import SHARE, held_out
from equipoise.data.inputs import Array, LabelledSet, Standardised
from equipoise.data.known import AS_THE_FILE, KNOWN, Known
from equipoise.data.own import OWN_FILES, OwnPlace, own_path

if TYPE_CHECKING:
    import polars as pl
    from torch import Tensor


class TabularOptions(SampleOptions):
    """Rows of a table."""


class TabularFileOptions(TabularOptions):
    """Which file, and what its columns are."""

    name: str = "tabular"
    file: str | None = Field(
        None, description="the table, relative to the data folder; not needed where data.path is the table itself"
    )
    label: str = Field("label", description="column of labels, numbers or text")
    categories: list[str] = Field([], description="columns of categories; every other column holds numbers")
    test_share: float = Field(SHARE, gt=0, lt=1, description="share of each class that is held out for test")


class ColumnInputs(Standardised):
    """Rows of numbers, standardised by column."""

    def prepare(self, stored: Array | Tensor) -> Tensor:
        import torch

        rows = torch.as_tensor(stored, dtype=torch.float64)
        return ((rows - rows.new_tensor(self.mean)) / rows.new_tensor(self.std)).float()

    def two_views(self, stored: Array | Tensor, seed: int) -> Tensor:
        raise ConfigError("rows of a table have no augmented views", where="client.augment", fix="client.augment=none")

    def without_content(self, rng: np.random.Generator, n: int, like: Array) -> Array:
        """Uniform between the least and the largest number of each column."""
        return rng.uniform(like.min(0), like.max(0), (n, like.shape[1])).astype(like.dtype)

    def shape(self, stored: Array) -> tuple[int, ...]:
        return stored.shape[1:]


@DATASETS.register("breast-cancer", aliases=("breast_cancer",), options=TabularOptions)
def breast_cancer(options: TabularOptions, folder: Path | None) -> LabelledSet:
    return _embedded("breast-cancer", "breast_cancer.csv")


@DATASETS.register("wine", options=TabularOptions)
def wine(options: TabularOptions, folder: Path | None) -> LabelledSet:
    return _embedded("wine", "wine_data.csv")


@DATASETS.register("tabular", options=TabularFileOptions, traits=("own-file",))
def tabular(options: TabularFileOptions, folder: Path | None) -> LabelledSet:
    path = _file(options, folder)
    names = header(path)
    _require_columns(options, names, path)
    rows = read_table(path, names)
    labels, classes = _labels(rows[options.label], str(path))
    parts = [
        _levels(rows[name], str(path)) if name in options.categories else _numbers(rows[name], str(path))
        for name in names
        if name != options.label
    ]
    return labelled_rows("tabular", np.concatenate(parts, axis=1), labels, classes, options.test_share)


def labelled_rows(name: str, rows: Array, labels: Labels, classes: tuple[str, ...], share: float) -> LabelledSet:
    """Rows [N, F] with a share of each class held out for test, the same for every seed."""
    test = held_out(labels, len(classes), share, f"{name}-test")
    train = np.setdiff1d(np.arange(len(labels)), test)
    everything = Samples(rows.astype(np.float32), labels)
    mean, std = rows[train].mean(0), rows[train].std(0)
    inputs = ColumnInputs(tuple(mean.tolist()), tuple(np.where(std > 0, std, 1.0).tolist()))
    return LabelledSet(name, everything.take(train), everything.take(test), classes, inputs)


def _embedded(name: str, file: str) -> LabelledSet:
    """A table of scikit-learn's, read without the second that importing it takes: counts and class names, then rows."""
    package = find_spec("sklearn")
    assert package is not None
    assert package.origin is not None
    path = Path(package.origin).parent / "datasets" / "data" / file
    with path.open(encoding="utf-8") as lines:
        classes = tuple(lines.readline().strip().split(",")[2:])
        table = np.loadtxt(lines, delimiter=",")
    return labelled_rows(name, table[:, :-1], table[:, -1].astype(np.int64), classes, SHARE)


def _file(options: TabularFileOptions, folder: Path | None) -> Path:
    return own_path(options.file, folder, OwnPlace("data.file", "table"))


OWN_FILES["tabular"] = lambda options, folder: (_file(options, folder),)


def header(path: Path) -> list[str]:
    """The names of all columns, each there once."""
    if path.suffix in PARQUET:
        import polars as pl

        return list(pl.read_parquet_schema(path))
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        names = next(csv.reader(file, delimiter=SEPARATORS.get(path.suffix, ",")), [])
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        what = f"{len(twice)} columns of {path.name} stand there twice: {', '.join(twice[:3])}"
        raise DataError(what, where=str(path), fix="give every column a name of its own")
    return names


def _require_columns(options: TabularFileOptions, names: Sequence[str], path: Path) -> None:
    for key, wanted in (("data.label", [options.label]), ("data.categories", options.categories)):
        for name in wanted:
            if name not in names:
                what = f"there is no column '{name}' in {path.name}{suggestion(name, list(names))}"
                raise DataError(what, where=str(path), fix=f"name it with {key}")
    if options.label in options.categories or len(names) < 2:
        what = f"{path.name} has no column to learn from beside its labels, or the label is among its categories"
        raise DataError(what, where=str(path), fix="data.label names the label, data.categories other columns")


def _labels(column: pl.Series, where: str) -> tuple[Labels, tuple[str, ...]]:
    """Numbers of the classes, and their names: sorted, as numbers where all are whole numbers."""
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    is_missing = text.is_null() | (text == "")
    if is_missing.any():
        first = int(is_missing.arg_true()[0]) + 1
        what = f"{is_missing.sum()} of {len(text)} rows have no label in column '{column.name}'; first row {first}"
        raise DataError(what, where=where, fix="remove these rows, or fill the labels in")
    names = text.unique().to_list()
    is_whole = all(name.lstrip("-").isdigit() for name in names)
    classes = tuple(sorted(names, key=int) if is_whole else sorted(names))
    if len(classes) < 2:
        what = f"column '{column.name}' has one class only, '{classes[0]}'" if classes else "the table has no rows"
        raise DataError(what, where=where, fix="data.label names the column to predict, with two classes or more")
    numbers = {name: number for number, name in enumerate(classes)}
    return np.array([numbers[name] for name in text], dtype=np.int64), classes


def _numbers(column: pl.Series, where: str) -> Array:
    import polars as pl

    read = column.cast(pl.Float64, strict=False)
    is_bad = ~read.is_finite().fill_null(False)
    if is_bad.any():
        first = int(is_bad.arg_true()[0])
        found = column[first]
        held = "nothing" if found in (None, "") else f"'{found}'"
        what = f"{is_bad.sum()} of {len(column)} rows have no number in column '{column.name}'; row {first + 1}: {held}"
        fix = f"fill or remove these rows; a column of words belongs in data.categories=[{column.name}]"
        raise DataError(what, where=where, fix=fix)
    return read.to_numpy().astype(np.float64)[:, None]


def _levels(column: pl.Series, where: str) -> Array:
    """One column per level, in sorted order."""
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    if text.null_count() or (text == "").any():
        what = f"column '{column.name}' has rows without a category"
        raise DataError(what, where=where, fix="fill or remove these rows; 'unknown' is a category like any other")
    levels = sorted(text.unique().to_list())
    has_level: Array = text.to_numpy()[:, None] == np.array(levels, dtype=object)
    return has_level.astype(np.float64)


@dataclass(frozen=True)
class KnownTable(Known):
    """Published sizes; None where they depend on the user's own file."""

    n_classes: int | None
    columns: int | None
    train: int | None
    test: int | None

    def facts(self) -> dict[str, Any]:
        return {"classes": self.n_classes, "columns": self.columns, "train": self.train, "test": self.test}

    def summary(self) -> tuple[str, str]:
        if self.columns is None:
            return "tabular rows", AS_THE_FILE
        return f"{self.n_classes} classes, {self.columns} columns", f"{self.train} + {self.test} rows"


UNPUBLISHED = KnownTable(n_classes=None, columns=None, train=None, test=None)
KNOWN["breast-cancer"] = KnownTable(n_classes=2, columns=30, train=456, test=113)
KNOWN["wine"] = KnownTable(n_classes=3, columns=13, train=142, test=36)


def describe(content: LabelledSet, options: TabularOptions, known: KnownTable, folder: Path | None) -> dict[str, Any]:
    """What `equipoise data check` reports."""
    parts = {"train": (content.train, known.train), "test": (content.test, known.test)}
    splits = {
        name: {"count": len(samples), "published": published, "labels": np.bincount(samples.labels).tolist()}
        for name, (samples, published) in parts.items()
    }
    return {
        "classes": list(content.classes),
        "shape": list(content.train.inputs.shape[1:]),
        "splits": splits,
        "is_complete": all(split["count"] == split["published"] for split in splits.values()),
    }
