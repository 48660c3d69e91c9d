"""Your own features: rows that a network gave for samples, with their labels, in one `.npz` or `.safetensors` file.

    features [N, D], labels [N]                                      a share of each class is held out for test
    features, labels, test_features, test_labels                     or  train_features, train_labels, …
    classes                                                          names, in the order of the labels; optional

Features are numbers, and enter a network as they are, or with `data.scale=columns` as (x_j − mean_j) / std_j of the
training rows. Labels are whole numbers from 0 without a gap. Other arrays are not read. Nothing is unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from equipoise.config.blocks import SampleOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Samples
from equipoise.data.arrays import Arrays, array_of, class_names, fault, labels_of, names_in, opened
from equipoise.data.fixed_test import SHARE, held_out
from equipoise.data.inputs import LabelledSet
from equipoise.data.known import AS_THE_FILE
from equipoise.data.own import OWN_FILES, OwnPlace, own_path
from equipoise.data.own_images import refuse_share
from equipoise.data.tabular import ColumnInputs, KnownTable

NAMES = (
    ("features", "labels", "test_features", "test_labels"),
    ("train_features", "train_labels", "test_features", "test_labels"),
    ("features", "labels"),
)
"""Understood sets of arrays; the first that a file has completely is read."""
EXAMPLE = "features=…, labels=…"
PLAIN = "np.asarray(x, dtype=np.float32) for features, np.int64 for labels, str for classes"


class FeatureOptions(SampleOptions):
    """Rows of features."""


class FeatureFileOptions(FeatureOptions):
    """Which file, and how its columns enter a network."""

    name: str = "features"
    file: str | None = Field(
        None, description="the file, relative to the data folder; not needed where data.path is the file itself"
    )
    scale: Literal["none", "columns"] = Field("none", description="columns: standardised by the training rows")
    test_share: float | None = Field(
        None, gt=0, lt=1, description=f"share of each class held out for test, {SHARE} if nothing is said"
    )


@DATASETS.register("features", options=FeatureFileOptions, traits=("own-file",))
def features(options: FeatureFileOptions, folder: Path | None) -> LabelledSet:
    path = feature_file(options, folder)
    with opened(path, EXAMPLE) as content:
        names = names_in(content, NAMES, path)
        parts = [_rows(content, names[i : i + 2], path) for i in range(0, len(names), 2)]
        n_classes = max(int(part.labels.max()) for part in parts) + 1
        classes = class_names(content, n_classes, path, PLAIN)
    train, test = _train_and_test(parts, classes, options.test_share, path)
    return LabelledSet("features", train, test, classes, _inputs(options, train))


def feature_file(options: FeatureFileOptions, folder: Path | None) -> Path:
    return own_path(options.file, folder, OwnPlace("data.file", "file of features"))


OWN_FILES["features"] = lambda options, folder: (feature_file(options, folder),)


def _inputs(options: FeatureFileOptions, train: Samples) -> ColumnInputs:
    width = train.inputs.shape[1]
    if options.scale == "none":
        return ColumnInputs((0.0,) * width, (1.0,) * width)
    rows = train.inputs.astype(np.float64)
    mean, std = rows.mean(0), rows.std(0)
    return ColumnInputs(tuple(mean.tolist()), tuple(np.where(std > 0, std, 1.0).tolist()))


def _rows(content: Arrays, names: tuple[str, ...], path: Path) -> Samples:
    rows, numbers = (array_of(content, name, path, PLAIN) for name in names)
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or 0 in rows.shape:
        what = f"'{names[0]}' is {rows.dtype} of shape {rows.shape}, expected numbers of shape [samples, features]"
        raise fault(path, what, "save one row of numbers per sample; average or flatten maps first")
    labels, rows = labels_of(numbers, names[1], (len(rows), "row"), path), rows.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(rows).all(1))
    if len(bad):
        what = f"{len(bad)} of {len(rows)} rows of '{names[0]}' hold numbers that are not finite, the first is {bad[0]}"
        raise fault(path, what, "leave these samples out, or compute their features again")
    return Samples(rows, labels)


def _train_and_test(
    parts: list[Samples], classes: tuple[str, ...], share: float | None, path: Path
) -> tuple[Samples, Samples]:
    """Both parts of a file, or all rows with a share of each class held out."""
    whole = len(parts) == 1
    _require_classes(parts[0], classes, 2 if whole else 1, path)
    if whole:
        test = held_out(parts[0].labels, len(classes), SHARE if share is None else share, "own-test")
        return parts[0].take(np.setdiff1d(np.arange(len(parts[0])), test)), parts[0].take(test)
    refuse_share(share, str(path))
    train, test_part = parts
    if train.inputs.shape[1] != test_part.inputs.shape[1]:
        widths = f"{train.inputs.shape[1]} features, and test rows {test_part.inputs.shape[1]}"
        raise fault(path, f"training rows have {widths}", "compute both with the same network")
    return train, test_part


def _require_classes(train: Samples, classes: tuple[str, ...], at_least: int, path: Path) -> None:
    if len(classes) < 2:
        raise fault(path, "there is one class; a classifier needs two or more", "add samples of another class")
    counts = np.bincount(train.labels, minlength=len(classes))
    few = np.flatnonzero(counts < at_least)
    if len(few):
        what = f"{len(few)} of {len(classes)} classes have too few training rows: class {few[0]} ('{classes[few[0]]}')"
        fix = "add samples of these classes, or remove the classes and number the others from 0 without a gap"
        raise DataError(f"{what} has {counts[few[0]]}, needed: {at_least}", where=str(path), fix=fix)


@dataclass(frozen=True)
class KnownFeatures(KnownTable):
    """Nothing is published of the user's own file."""

    def summary(self) -> tuple[str, str]:
        return "features of samples", AS_THE_FILE


UNPUBLISHED = KnownFeatures(n_classes=None, columns=None, train=None, test=None)
