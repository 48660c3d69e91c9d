"""Arrays in one file, by name: `.npz` or `.safetensors`. Nothing is unpickled."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from equipoise.core.errors import DataError
from equipoise.core.values import Labels

Arrays = Mapping[str, NDArray[Any]]
MOST_CLASSES = 1 << 16
_FAULTS = (ValueError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)


@contextmanager
def opened(path: Path, example: str) -> Iterator[Arrays]:
    """The arrays of a file. `example`: how such a file is written, for messages."""
    if path.suffix == ".safetensors":
        yield _safetensors(path)
        return
    with ExitStack() as stack:
        try:
            content = np.load(stack.enter_context(path.open("rb")), allow_pickle=False)
        except _FAULTS as error:
            raise fault(path, f"it is not a whole .npz file ({error})", "write it again with np.savez") from error
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise fault(path, "it holds one array without a name", f"write a .npz with np.savez(FILE, {example})")
        yield stack.enter_context(content)


def _safetensors(path: Path) -> Arrays:
    try:
        found: Arrays = load_file(path)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        why = f"it is not a whole safetensors file, or of a type that numpy does not have ({error})"
        raise fault(path, why, "write it again with safetensors.numpy.save_file") from error
    return found


def names_in(content: Mapping[str, Any], sets: Sequence[tuple[str, ...]], path: Path) -> tuple[str, ...]:
    """The first set of names that a file has completely."""
    there = list(content)
    for names in sets:
        if all(name in there for name in names):
            return names
    nearest = max(sets, key=lambda names: sum(name in there for name in names))
    missing = ", ".join(name for name in nearest if name not in there)
    found = ", ".join(there) or "nothing"
    fix = "name the arrays " + "; or ".join(", ".join(names) for names in sets)
    raise fault(path, f"it holds {found}; missing: {missing}", fix)


def array_of(content: Arrays, name: str, path: Path, example: str) -> NDArray[Any]:
    try:
        return content[name]
    except _FAULTS as error:
        if "pickle" in str(error).lower():
            fix = f"save plain arrays: {example}"
            raise fault(path, f"'{name}' holds Python objects, which are never unpickled", fix) from error
        raise fault(path, f"'{name}' cannot be read ({error})", "write the file again with np.savez") from error


def labels_of(labels: NDArray[Any], name: str, beside: tuple[int, str], path: Path) -> Labels:
    """Whole numbers from 0, one for each of so many samples; `beside` is their number and what they are called."""
    n, noun = beside
    if labels.dtype.kind not in "iu":
        fix = f"save whole numbers from 0: {name}=np.unique(labels, return_inverse=True)[1]"
        raise fault(path, f"'{name}' holds {labels.dtype}, labels are whole numbers", fix)
    if labels.shape not in {(n,), (n, 1)}:
        what = f"'{name}' has shape {labels.shape} beside {n} {noun}s"
        raise fault(path, what, f"give one label per {noun}, shape [N]")
    if n == 0:
        return labels.reshape(-1).astype(np.int64)
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= MOST_CLASSES:
        fix = "number the classes from 0 without a gap: np.unique(labels, return_inverse=True)[1]"
        raise fault(path, f"'{name}' has labels from {low} to {high}, expected 0 to {MOST_CLASSES - 1}", fix)
    return labels.reshape(-1).astype(np.int64)


def class_names(content: Arrays, n_classes: int, path: Path, example: str) -> tuple[str, ...]:
    """The array `classes`, or numbers where there is none."""
    if "classes" not in content:
        return tuple(map(str, range(n_classes)))
    names = array_of(content, "classes", path, example)
    if names.ndim != 1 or names.dtype.kind not in "US":
        what = f"'classes' is {names.dtype} of shape {names.shape}, expected a row of names"
        raise fault(path, what, "save it with np.array([…], dtype=str)")
    if len(names) < n_classes:
        what = f"there are {len(names)} names of classes, and labels up to {n_classes - 1}"
        raise fault(path, what, "name every class, in the order of the labels")
    return tuple(name.decode("utf-8", errors="replace") if isinstance(name, bytes) else str(name) for name in names)


def fault(path: Path, what: str, fix: str = "check the arrays") -> DataError:
    return DataError(f"cannot use {path.name}: {what}", where=str(path), fix=fix)
