"""Street View House Numbers: 32×32, three channels, digits, from `train_32x32.mat` and `test_32x32.mat`.

X is uint8 [32, 32, 3, N] and y is 1 … 10, where 10 stands for the digit 0.
Source: Netzer et al., "Reading Digits in Natural Images with Unsupervised Feature Learning", 2011.
"""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

import numpy as np

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.cache import read
from equipoise.data.source import Found, Pair, add_source, damaged, labelled, require

FILES = ("train_32x32.mat", "test_32x32.mat")
CLASSES = tuple("0123456789")
MEAN = (0.4377, 0.4438, 0.4728)
STD = (0.1980, 0.2010, 0.1970)
_FAULTS = (
    ValueError, TypeError, LookupError, EOFError, OSError, NotImplementedError, OverflowError, MemoryError, zlib.error,
)  # fmt: skip
"""What scipy raises, beside its own error, for damaged files and for MATLAB 7.3 files."""


def _find(folder: Path) -> Found | None:
    files = tuple(folder / name for name in FILES)
    if not any(path.is_file() for path in files):
        return None
    return Found(require(files), partial(_decode, files))


def _decode(files: tuple[Path, ...]) -> Pair:
    train, test = files
    return read_mat(train), read_mat(test)


def read_mat(path: Path) -> Images:
    from scipy.io.matlab import MatReadError, loadmat

    try:
        content = loadmat(path, variable_names=["X", "y"])  # type: ignore[no-untyped-call]
        pixels, labels = content["X"], content["y"]
    except (MatReadError, *_FAULTS) as error:
        raise damaged(path, f"it is not a whole MATLAB file with X and y ({error})") from error
    if pixels.dtype != np.uint8 or pixels.shape[:3] != (32, 32, 3) or pixels.ndim != 4:
        raise damaged(path, f"expected X of uint8 [32, 32, 3, N], found {pixels.shape} of {pixels.dtype}")
    if labels.dtype.kind not in "iuf":
        raise damaged(path, f"expected y of numbers, found {labels.dtype}")
    digits = labels.reshape(-1).astype(np.int64)
    return labelled(pixels.transpose(3, 2, 0, 1), np.where(digits == 10, 0, digits), len(CLASSES), path)


SVHN = add_source("svhn", FILES, _find)


@DATASETS.register("svhn", options=ImageOptions)
def svhn(options: ImageOptions, folder: Path | None) -> Dataset:
    train, test = read(SVHN, folder)
    return Dataset("svhn", train, test, CLASSES, MEAN, STD)
