"""CIFAR-10 and CIFAR-100: 32×32, three channels, from the binary or the python archive, or packed.

A binary record is the label bytes (one; in CIFAR-100 coarse then fine) and 3072 bytes: red, green and blue planes.
Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from equipoise.config.blocks import ImageOptions
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.cache import read
from equipoise.data.cifar_names import CIFAR10_CLASSES, CIFAR100_CLASSES
from equipoise.data.packed import read_labels, read_packed
from equipoise.data.restricted import read_pickle
from equipoise.data.source import Found, Pair, add_source, damaged, joined, labelled, read_bytes, require

PIXELS = 3 * 32 * 32


def parse_binary(data: bytes, where: str, n_classes: int) -> Images:
    label_bytes = 1 if n_classes == 10 else 2
    record = label_bytes + PIXELS
    if len(data) % record:
        raise damaged(where, f"expected a multiple of {record} bytes, found {len(data)}")
    rows = np.frombuffer(data, np.uint8).reshape(-1, record)
    return labelled(rows[:, label_bytes:].reshape(-1, 3, 32, 32), rows[:, label_bytes - 1], n_classes, where)


def parse_pickle(data: bytes, where: str, n_classes: int) -> Images:
    key = b"labels" if n_classes == 10 else b"fine_labels"
    content = read_pickle(data, where)
    pixels, labels = content.get(b"data"), content.get(key)
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape[1:] != (PIXELS,):
        raise damaged(where, f"expected 'data' of uint8 [N, {PIXELS}], found {getattr(pixels, 'shape', pixels)}")
    if not isinstance(labels, list) or not all(isinstance(label, int) for label in labels):
        raise damaged(where, f"expected a list of integers under '{key.decode()}'")
    return labelled(pixels.reshape(-1, 3, 32, 32), np.array(labels, np.int64), n_classes, where)


@dataclass(frozen=True)
class Original:
    """An original archive, the folder it unpacks to, and the files inside."""

    archive: str
    folder: str
    train: tuple[str, ...]
    test: str
    parse: Callable[[bytes, str, int], Images]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.train, self.test)


_BATCHES = tuple(f"data_batch_{part}" for part in range(1, 6))
CIFAR10_LAYOUTS = (
    Original(
        "cifar-10-binary.tar.gz", "cifar-10-batches-bin",
        tuple(f"{name}.bin" for name in _BATCHES), "test_batch.bin", parse_binary,
    ),
    Original("cifar-10-python.tar.gz", "cifar-10-batches-py", _BATCHES, "test_batch", parse_pickle),
)  # fmt: skip
CIFAR100_LAYOUTS = (
    Original("cifar-100-binary.tar.gz", "cifar-100-binary", ("train.bin",), "test.bin", parse_binary),
    Original("cifar-100-python.tar.gz", "cifar-100-python", ("train",), "test", parse_pickle),
)


def find_original(folder: Path, layouts: tuple[Original, ...], n_classes: int) -> Found | None:
    for layout in layouts:
        inside, archive = folder / layout.folder, folder / layout.archive
        if inside.is_dir():
            files = require(tuple(inside / name for name in layout.names))
            return Found(files, partial(_decode_folder, files, layout, n_classes))
        if archive.is_file():
            return Found((archive,), partial(_decode_archive, archive, layout, n_classes))
    return None


def _decode_folder(files: tuple[Path, ...], layout: Original, n_classes: int) -> Pair:
    parts = [layout.parse(read_bytes(path), str(path), n_classes) for path in files]
    return joined(parts[:-1]), parts[-1]


def _decode_archive(archive: Path, layout: Original, n_classes: int) -> Pair:
    members = read_members(archive, layout.names)
    parts = [layout.parse(members[name], f"{archive}:{name}", n_classes) for name in layout.names]
    return joined(parts[:-1]), parts[-1]


def read_members(archive: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Files of a tar archive by their last name, read in one pass; nothing is unpacked to disk."""
    wanted, members = set(names), {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.rsplit("/", 1)[-1]
                file = tar.extractfile(member) if name in wanted and member.isfile() else None
                if file is not None:
                    members[name] = file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise damaged(archive, f"it is not a whole archive ({error})") from error
    missing = sorted(wanted - members.keys())
    if missing:
        raise damaged(archive, f"expected {len(wanted)} files inside, found {len(members)}: no {', '.join(missing)}")
    return members


def find_packed(folder: Path) -> Found | None:
    """Packed CIFAR-10: training parts 1…n without a gap, the test part and the labels."""
    parts = sorted(folder.glob("cifar10_train[1-9]_images.npy.xz"))
    if not parts:
        return None
    names = [f"cifar10_train{part + 1}_images.npy.xz" for part in range(len(parts))]
    rest = ["cifar10_test_images.npy.xz", "cifar10_labels.npz"]
    files = require(tuple(folder / name for name in names + rest))
    return Found(files, partial(_decode_packed, files))


def _decode_packed(files: tuple[Path, ...]) -> Pair:
    *parts, test, labels = files
    pixels = np.concatenate([read_packed(path) for path in parts])
    owned = read_labels(labels, "train")
    if len(owned) < len(pixels):
        raise damaged(labels, f"expected at least {len(pixels)} training labels, found {len(owned)}")
    train = labelled(pixels, owned[: len(pixels)], 10, labels)
    return train, labelled(read_packed(test), read_labels(labels, "test"), 10, labels)


def _find_cifar10(folder: Path) -> Found | None:
    return find_original(folder, CIFAR10_LAYOUTS, 10) or find_packed(folder)


def _find_cifar100(folder: Path) -> Found | None:
    return find_original(folder, CIFAR100_LAYOUTS, 100)


def _places(layouts: tuple[Original, ...]) -> tuple[str, ...]:
    return tuple(place for layout in layouts for place in (f"{layout.folder}/", layout.archive))


CIFAR10 = add_source("cifar10", (*_places(CIFAR10_LAYOUTS), "cifar10_train1_images.npy.xz"), _find_cifar10)
CIFAR100 = add_source("cifar100", _places(CIFAR100_LAYOUTS), _find_cifar100)


@DATASETS.register("cifar10", aliases=("cifar-10",), options=ImageOptions)
def cifar10(options: ImageOptions, folder: Path | None) -> Dataset:
    train, test = read(CIFAR10, folder)
    mean, std = (0.49140, 0.48216, 0.44653), (0.24703, 0.24349, 0.26159)
    return Dataset("cifar10", train, test, CIFAR10_CLASSES, mean, std)


@DATASETS.register("cifar100", aliases=("cifar-100",), options=ImageOptions)
def cifar100(options: ImageOptions, folder: Path | None) -> Dataset:
    train, test = read(CIFAR100, folder)
    mean, std = (0.50707, 0.48655, 0.44092), (0.26733, 0.25644, 0.27615)
    return Dataset("cifar100", train, test, CIFAR100_CLASSES, mean, std)
