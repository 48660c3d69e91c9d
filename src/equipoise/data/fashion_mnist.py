"""Fashion-MNIST: 28×28, one channel, 10 kinds of clothing, from the four idx files or packed.

An idx file is two zero bytes, the type (8, unsigned bytes), the number of axes, each axis as a big-endian 32-bit
number, and the bytes. Source: Xiao, Rasul, Vollgraf, "Fashion-MNIST", 2017.
"""

from __future__ import annotations

import gzip
import zlib
from functools import partial
from pathlib import Path

import numpy as np

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images, Pixels
from equipoise.data.cache import read
from equipoise.data.packed import read_labels, read_npy_xz
from equipoise.data.source import Found, Pair, add_source, damaged, labelled, read_bytes, require

IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
PACKED = ("fashion_mnist_train_images.npy.xz", "fashion_mnist_test_images.npy.xz", "fashion_mnist_labels.npz")
CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
MEAN = (0.2860,) * 3
STD = (0.3530,) * 3


def _find(folder: Path) -> Found | None:
    return _find_idx(folder / "FashionMNIST" / "raw") or _find_idx(folder) or _find_packed(folder)


def _find_idx(folder: Path) -> Found | None:
    """Each of the four files unpacked, or else gzipped."""
    plain = [folder / name for name in IDX]
    files = tuple(path if path.is_file() else path.with_name(f"{path.name}.gz") for path in plain)
    if not any(path.is_file() for path in files):
        return None
    return Found(require(files), partial(_decode_idx, files))


def _decode_idx(files: tuple[Path, ...]) -> Pair:
    train_pixels, train_labels, test_pixels, test_labels = files
    return _pair(train_pixels, train_labels), _pair(test_pixels, test_labels)


def _pair(pixels: Path, labels: Path) -> Images:
    return labelled(read_idx(pixels, 3)[:, None], read_idx(labels, 1), len(CLASSES), labels)


def read_idx(path: Path, n_dims: int) -> Pixels:
    """The uint8 array of an idx file with that many axes, gzipped or not."""
    data = read_bytes(path)
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise damaged(path, f"it is not a whole gzip file ({error})") from error
    start = 4 + 4 * n_dims
    if data[:4] != bytes((0, 0, 8, n_dims)) or len(data) < start:
        raise damaged(path, f"expected an idx header of {n_dims} axes of bytes, found {data[:4].hex(' ')}")
    shape = [int(size) for size in np.frombuffer(data, ">u4", n_dims, offset=4)]
    expected = start + int(np.prod(shape, dtype=object))
    if len(data) != expected:
        raise damaged(path, f"expected {expected} bytes for shape {shape}, found {len(data)}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _find_packed(folder: Path) -> Found | None:
    files = tuple(folder / name for name in PACKED)
    if not any(path.is_file() for path in files):
        return None
    return Found(require(files), partial(_decode_packed, files))


def _decode_packed(files: tuple[Path, ...]) -> Pair:
    train, test, labels = files
    return (
        labelled(read_npy_xz(train, 3)[:, None], read_labels(labels, "train"), len(CLASSES), labels),
        labelled(read_npy_xz(test, 3)[:, None], read_labels(labels, "test"), len(CLASSES), labels),
    )


FASHION_MNIST = add_source("fashion-mnist", (f"FashionMNIST/raw/{IDX[0]}.gz", f"{IDX[0]}[.gz]", PACKED[0]), _find)


@DATASETS.register("fashion-mnist", aliases=("fmnist", "fashion_mnist"), options=ImageOptions)
def fashion_mnist(options: ImageOptions, folder: Path | None) -> Dataset:
    train, test = read(FASHION_MNIST, folder)
    return Dataset("fashion-mnist", train, test, CLASSES, MEAN, STD)
