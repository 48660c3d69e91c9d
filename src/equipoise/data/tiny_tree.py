"""Tiny-ImageNet as published: `tiny-imagenet-200/`, unpacked or as its zip, with the validation set as test.

    wnids.txt   words.txt   train/<wnid>/images/*.JPEG   val/images/*.JPEG   val/val_annotations.txt

Labels are the sorted order of the wnids, not that of `wnids.txt`, so that they agree with the parquet layout.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from equipoise.core.values import Images
from equipoise.data.jpeg import decode_images
from equipoise.data.source import Found, Pair, damaged, labelled, read_bytes, require

FOLDER = "tiny-imagenet-200"
ARCHIVE = f"{FOLDER}.zip"
LISTS = ("wnids.txt", "words.txt", "val/val_annotations.txt")
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""RuntimeError is an encrypted member or an unknown compression."""


@dataclass(frozen=True)
class Tree:
    """Files below `tiny-imagenet-200/` by relative name, in a folder or a zip."""

    where: str
    names: frozenset[str]
    read: Callable[[str], bytes]

    def lines(self, name: str) -> list[list[str]]:
        if name not in self.names:
            raise damaged(self.where, f"expected {name} inside, found {len(self.names)} other files")
        rows = self.read(name).decode("utf-8", errors="replace").splitlines()
        return [row.split("\t") for row in rows if row.strip()]


def find_tree(folder: Path) -> Found | None:
    inside, archive = folder / FOLDER, folder / ARCHIVE
    if inside.is_dir():
        lists = require(tuple(inside / name for name in LISTS))
        return Found((*lists, *sorted(inside.glob("**/*.JPEG"))), lambda: decode(inside))
    if archive.is_file():
        return Found((archive,), lambda: decode(archive))
    return None


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """A folder or a zip as a tree of files."""
    if path.is_dir():
        names = frozenset(file.relative_to(path).as_posix() for file in path.glob("**/*.*"))
        yield Tree(str(path), names, lambda name: read_bytes(path / name))
        return
    try:
        archive = zipfile.ZipFile(path)
    except _ZIP_FAULTS as error:
        raise damaged(path, f"it is not a whole zip file ({error})") from error
    with archive:
        inside = [name.removeprefix(f"{FOLDER}/") for name in archive.namelist()]
        yield Tree(str(path), frozenset(inside), lambda name: _read_member(archive, name, path))


def _read_member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return archive.read(f"{FOLDER}/{name}")
    except (KeyError, *_ZIP_FAULTS) as error:
        raise damaged(path, f"{name} cannot be read from it ({error})") from error


def class_names(path: Path) -> tuple[str, ...]:
    """The words of each wnid, in label order."""
    with open_tree(path) as tree:
        words = {row[0]: row[-1] for row in tree.lines("words.txt")}
        return tuple(words.get(wnid, wnid) for wnid in _wnids(tree))


def decode(path: Path) -> Pair:
    with open_tree(path) as tree:
        label_of = {wnid: label for label, wnid in enumerate(_wnids(tree))}
        train = {name: name.split("/")[1] for name in sorted(tree.names) if _is_image(name, "train")}
        annotated = {f"val/images/{row[0]}": row[1] for row in tree.lines("val/val_annotations.txt") if len(row) > 1}
        return _images(tree, train, label_of), _images(tree, annotated, label_of)


def _wnids(tree: Tree) -> list[str]:
    return sorted(row[0].strip() for row in tree.lines("wnids.txt"))


def _is_image(name: str, part: str) -> bool:
    return name.startswith(f"{part}/") and name.endswith(".JPEG")


def _images(tree: Tree, wnid_of: dict[str, str], label_of: dict[str, int]) -> Images:
    unknown = sorted(set(wnid_of.values()) - label_of.keys())
    if unknown:
        raise damaged(tree.where, f"expected only classes of wnids.txt, found {', '.join(unknown[:3])}")
    absent = sorted(wnid_of.keys() - tree.names)
    if absent:
        raise damaged(tree.where, f"{len(absent)} of {len(wnid_of)} listed images are missing, first {absent[0]}")
    pixels = decode_images(((name, tree.read(name)) for name in wnid_of), len(wnid_of), tree.where)
    labels = np.array([label_of[wnid] for wnid in wnid_of.values()], np.int64)
    return labelled(pixels, labels, len(label_of), tree.where)
