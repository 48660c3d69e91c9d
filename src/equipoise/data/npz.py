"""Your own arrays: one `.npz` file with images, labels and, if you like, class names.

    train_images, train_labels, test_images, test_labels        or  x_train, y_train, x_test, y_test
    images, labels                                              a share is held out for test
    classes                                                     names, in the order of the labels; optional

Images are uint8 [N, H, W], [N, H, W, C] or [N, C, H, W] with one or three channels. Labels are whole numbers from 0
without a gap, [N] or [N, 1]. Other arrays in the file are not read. Nothing is unpickled.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images, Pixels
from equipoise.data.own import OWN_FILES, OwnPlace, own_path
from equipoise.data.own_images import OwnImageOptions, own_dataset, refuse_share, with_test

NAMES = (
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("images", "labels"),
)
"""Understood sets of arrays; the first that a file has completely is read."""
CHANNELS = (1, 3)
MOST_CLASSES = 1 << 16
_FAULTS = (ValueError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)


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
    with _opened(path) as content:
        names = _names(content, path)
        parts = [_images(content, names[i : i + 2], options, path) for i in range(0, len(names), 2)]
        classes = _classes(content, max(int(part.labels.max(initial=0)) for part in parts) + 1, path)
    if len(parts) == 1:
        return own_dataset("npz", with_test(parts[0], classes, options.test_share, where), classes, where)
    refuse_share(options.test_share, where)
    train, test = parts
    if train.pixels.shape[1:] != test.pixels.shape[1:]:
        raise _fault(path, f"train images are {train.pixels.shape[1:]} and test images {test.pixels.shape[1:]}")
    return own_dataset("npz", (train, test), classes, where)


def npz_file(options: NpzOptions, folder: Path | None) -> Path:
    return own_path(options.file, folder, OwnPlace("data.file", ".npz file"))


OWN_FILES["npz"] = lambda options, folder: (npz_file(options, folder),)


@contextmanager
def _opened(path: Path) -> Iterator[Mapping[str, NDArray[Any]]]:
    with ExitStack() as stack:
        try:
            content = np.load(stack.enter_context(path.open("rb")), allow_pickle=False)
        except _FAULTS as error:
            raise _fault(path, f"it is not a whole .npz file ({error})", "write it again with np.savez") from error
        if not isinstance(content, np.lib.npyio.NpzFile):
            fix = "write a .npz with np.savez(FILE, images=…, labels=…)"
            raise _fault(path, "it holds one array without a name", fix)
        yield stack.enter_context(content)


def _names(content: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    there = list(content)
    for names in NAMES:
        if all(name in there for name in names):
            return names
    nearest = max(NAMES, key=lambda names: sum(name in there for name in names))
    missing = ", ".join(name for name in nearest if name not in there)
    found = ", ".join(there) or "nothing"
    fix = "name the arrays " + "; or ".join(", ".join(names) for names in NAMES)
    raise _fault(path, f"it holds {found}; missing: {missing}", fix)


def _array(content: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[Any]:
    try:
        return content[name]
    except _FAULTS as error:
        if "pickle" in str(error).lower():
            fix = "save plain arrays: np.asarray(x, dtype=np.uint8) for images, np.int64 for labels, str for classes"
            raise _fault(path, f"'{name}' holds Python objects, which are never unpickled", fix) from error
        raise _fault(path, f"'{name}' cannot be read ({error})", "write the file again with np.savez") from error


def _images(content: Mapping[str, Any], names: tuple[str, ...], options: NpzOptions, path: Path) -> Images:
    pixels = _pixels(_array(content, names[0], path), names[0], options, path)
    labels = _array(content, names[1], path)
    if labels.dtype.kind not in "iu":
        fix = f"save whole numbers from 0: {names[1]}=np.unique(labels, return_inverse=True)[1]"
        raise _fault(path, f"'{names[1]}' holds {labels.dtype}, labels are whole numbers", fix)
    if labels.shape not in {(len(pixels),), (len(pixels), 1)}:
        what = f"'{names[1]}' has shape {labels.shape} beside {len(pixels)} images"
        raise _fault(path, what, "give one label per image, shape [N]")
    if len(pixels) == 0:
        raise _fault(path, f"'{names[0]}' has no images", "add images")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= MOST_CLASSES:
        fix = "number the classes from 0 without a gap: np.unique(labels, return_inverse=True)[1]"
        raise _fault(path, f"'{names[1]}' has labels from {low} to {high}, expected 0 to {MOST_CLASSES - 1}", fix)
    return Images(pixels, labels.reshape(-1).astype(np.int64))


def _pixels(array: NDArray[Any], name: str, options: NpzOptions, path: Path) -> Pixels:
    """[N, C, H, W] of an array in any of the three layouts."""
    if array.dtype != np.uint8:
        what = f"'{name}' holds {array.dtype}, images are uint8 from 0 to 255"
        raise _fault(path, what, "scale them to 0 … 255 and save them with .astype(np.uint8)")
    if array.ndim == 3:
        return array[:, None]
    fits = {} if array.ndim != 4 else {"chw": array.shape[1] in CHANNELS, "hwc": array.shape[3] in CHANNELS}
    found = [layout for layout, is_fit in fits.items() if is_fit and options.layout in {"auto", layout}]
    if not found:
        what = (
            f"'{name}' has shape {array.shape}, expected [N, H, W], [N, H, W, C] or [N, C, H, W] with 1 or 3 channels"
        )
        raise _fault(path, what, "reshape the array, or check data.layout")
    if len(found) > 1:
        what = f"'{name}' of shape {array.shape} can be read in two ways"
        raise _fault(path, what, "say which axis is the channels: data.layout=chw or data.layout=hwc")
    return np.ascontiguousarray(array if found == ["chw"] else array.transpose(0, 3, 1, 2))


def _classes(content: Mapping[str, Any], n_classes: int, path: Path) -> tuple[str, ...]:
    if "classes" not in content:
        return tuple(map(str, range(n_classes)))
    names = _array(content, "classes", path)
    if names.ndim != 1 or names.dtype.kind not in "US":
        what = f"'classes' is {names.dtype} of shape {names.shape}, expected a row of names"
        raise _fault(path, what, "save it with np.array([…], dtype=str)")
    if len(names) < n_classes:
        what = f"there are {len(names)} names of classes, and labels up to {n_classes - 1}"
        raise _fault(path, what, "name every class, in the order of the labels")
    return tuple(name.decode("utf-8", errors="replace") if isinstance(name, bytes) else str(name) for name in names)


def _fault(path: Path, what: str, fix: str = "check the arrays") -> DataError:
    return DataError(f"cannot use {path.name}: {what}", where=str(path), fix=fix)
