"""Whatever happens to a file, its reader answers with images or with a DataError that names the file."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.io import savemat

from equipoise.core.errors import DataError
from equipoise.data.cifar import parse_pickle, read_members
from equipoise.data.fashion_mnist import read_idx
from equipoise.data.packed import read_labels, read_packed
from equipoise.data.svhn import read_mat
from equipoise.data.tiny_imagenet import read_table
from equipoise.data.tiny_tree import decode

from .writers import idx, jpeg, npz, pack, python_batch, random_images, tiny_tree, write_tar, write_tiny_zip, xz

IMAGES = random_images(np.random.default_rng(1), 3, 10, (3, 32, 32))
SMALL = IMAGES.pixels[:, :, :4, :4]


def write_mat(path: Path) -> None:
    savemat(path, {"X": IMAGES.pixels.transpose(2, 3, 1, 0), "y": IMAGES.labels[:, None]}, do_compression=True)


def write_table(path: Path) -> None:
    pl.DataFrame({"jpeg": [jpeg(9), jpeg(90)], "label": [0, 1]}).write_parquet(path)


CASES: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "a.mat": (write_mat, read_mat),
    "a.parquet": (write_table, read_table),
    "a.zip": (lambda path: write_tiny_zip(path, tiny_tree()), decode),
    "a.tar.gz": (lambda path: write_tar(path, {"x/a": bytes(900)}), lambda path: read_members(path, ["a"])),
    "a.npz": (lambda path: path.write_bytes(npz(train=np.zeros(9, np.uint8))), lambda path: read_labels(path, "train")),
    "a.npy.xz": (lambda path: path.write_bytes(xz(pack(SMALL))), read_packed),
    "a.gz": (lambda path: path.write_bytes(gzip.compress(idx(SMALL[:, 0]))), lambda path: read_idx(path, 3)),
    "data_batch": (
        lambda path: path.write_bytes(python_batch(IMAGES)),
        lambda path: parse_pickle(path.read_bytes(), str(path), 10),
    ),
}


def mangled(whole: bytes, rng: np.random.Generator) -> bytes:
    """Cut short or not, with up to three bytes changed, half the time near the start."""
    end = rng.integers(1, len(whole) + 1) if rng.random() < 0.4 else len(whole)
    data = bytearray(whole[:end])
    reach = len(data) if rng.random() < 0.5 else min(len(data), 300)
    for at in rng.integers(0, reach, 3):
        data[at] = rng.integers(256)
    return bytes(data)


@pytest.mark.parametrize("name", CASES)
def test_damage_is_named(name, folder, rng):
    write, read = CASES[name]
    path = folder / name
    write(path)
    read(path)
    whole = path.read_bytes()
    answers = []
    for _ in range(60):
        path.write_bytes(mangled(whole, rng))
        try:
            read(path)
        except DataError as error:
            answers.append(f"{error.what} {error.where}")
    assert len(answers) > 10
    assert all(name in answer for answer in answers)
