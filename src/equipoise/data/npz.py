"""Your own arrays: one `.npz` file with images, labels and, if you like, class names.

    train_images, train_labels, test_images, test_labels        or  x_train, y_train, x_test, y_test
    images, labels                                              a share is held out for test
    classes                                                     names, in the order of the labels; optional

Images are uint8 [N, H, W], [N, H, W, C] or [N, C, H, W] with one or three channels. Labels are whole numbers from 0
without a gap, [N] or [N, 1]. Other arrays in the file are not read. Nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images, Pixels
from equipoise.data.arrays import array_of, class_names, fault, labels_of, names_in, opened
from equipoise.data.own import OWN_FILES, OwnPlace, own_path
from equipoise.data.own_images import OwnImageOptions, own_dataset, refuse_share, with_test

NAMES = (
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("images", "labels"),
)
"""Understood sets of arrays; the first that a file has completely is read."""
CHANNELS = (1, 3)
EXAMPLE = "images=…, labels=…"
PLAIN = "np.asarray(x, dtype=np.uint8) for images, np.int64 for labels, str for classes"


class NpzOptions(OwnImageOptions):
    """Which file, and in what order its axes are."""

    name: str = "npz"
    file: str | None = Field(
        None, description="the .npz file, relative to the data folder; not needed where data.path is the file itself"
    )
    layout: Literal["auto", "hwc", "chw"] = Field(
        "auto", description="order of the axes of an image with channels; auto: by which of them is 1 or 3 long"
    )


@DATASETS.register("npz", aliases=("arrays",), options=NpzOptions, traits=("own-file",))
def npz(options: NpzOptions, folder: Path | None) -> Dataset:
    path = npz_file(options, folder)
    where = str(path)
    with opened(path, EXAMPLE) as content:
        names = names_in(content, NAMES, path)
        parts = [_images(content, names[i : i + 2], options, path) for i in range(0, len(names), 2)]
        n_classes = max(int(part.labels.max(initial=0)) for part in parts) + 1
        classes = class_names(content, n_classes, path, PLAIN)
    if len(parts) == 1:
        return own_dataset("npz", with_test(parts[0], classes, options.test_share, where), classes, where)
    refuse_share(options.test_share, where)
    train, test = parts
    if train.pixels.shape[1:] != test.pixels.shape[1:]:
        raise fault(path, f"train images are {train.pixels.shape[1:]} and test images {test.pixels.shape[1:]}")
    return own_dataset("npz", (train, test), classes, where)


def npz_file(options: NpzOptions, folder: Path | None) -> Path:
    return own_path(options.file, folder, OwnPlace("data.file", ".npz file"))


OWN_FILES["npz"] = lambda options, folder: (npz_file(options, folder),)


def _images(content: Mapping[str, Any], names: tuple[str, ...], options: NpzOptions, path: Path) -> Images:
    pixels = _pixels(array_of(content, names[0], path, PLAIN), names[0], options, path)
    labels = array_of(content, names[1], path, PLAIN)
    numbers = labels_of(labels, names[1], (len(pixels), "image"), path)
    if len(pixels) == 0:
        raise fault(path, f"'{names[0]}' has no images", "add images")
    return Images(pixels, numbers)


def _pixels(array: NDArray[Any], name: str, options: NpzOptions, path: Path) -> Pixels:
    """[N, C, H, W] of an array in any of the three layouts."""
    if array.dtype != np.uint8:
        what = f"'{name}' holds {array.dtype}, images are uint8 from 0 to 255"
        raise fault(path, what, "scale them to 0 … 255 and save them with .astype(np.uint8)")
    if array.ndim == 3:
        return array[:, None]
    fits = {} if array.ndim != 4 else {"chw": array.shape[1] in CHANNELS, "hwc": array.shape[3] in CHANNELS}
    found = [layout for layout, is_fit in fits.items() if is_fit and options.layout in {"auto", layout}]
    if not found:
        what = (
            f"'{name}' has shape {array.shape}, expected [N, H, W], [N, H, W, C] or [N, C, H, W] with 1 or 3 channels"
        )
        raise fault(path, what, "reshape the array, or check data.layout")
    if len(found) > 1:
        what = f"'{name}' of shape {array.shape} can be read in two ways"
        raise fault(path, what, "say which axis is the channels: data.layout=chw or data.layout=hwc")
    return np.ascontiguousarray(array if found == ["chw"] else array.transpose(0, 3, 1, 2))
