"""A split that you bring: a file that says which client owns each training sample.

    .csv, .tsv, .parquet   columns `sample` and `client`, one row per sample
    .npy                   whole numbers, one per sample: the client's id; −1 for no client

A sample is the number, from 0, of an image in the whole training set as its reader gives it, before `data.limit`,
validation and the public pool take theirs: the file does not depend on the run's seed. Samples that were taken away
are not trained on. Every sample of the whole set must be in the file once; an empty `client` means that nobody trains
on it. Ids are whole numbers or text; sorted, they become clients 0 … K−1. Source: ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import DataError, PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.data.source import data_folder
from equipoise.data.splits import SampleNumbers
from equipoise.partition.split_rows import NOBODY, SplitRows, read_rows

WHERE = "partition.file"
FIRST = 5
"""Examples that a message names."""


class FileOptions(PartitionOptions):
    """Which file, and what is expected of it."""

    gaps: ClassVar[bool] = True
    """Samples may be left to nobody: the file says so for each of them."""

    name: str = "file"
    file: str | None = Field(None, description="the split, looked for in the data folder, then in the working folder")
    clients: int | None = Field(  # type: ignore[assignment]
        None, ge=1, description="expected number of clients; null: as many as the file has ids"
    )
    ids: list[str] | None = Field(None, description="expected ids of the clients; null: those of the file")
    min_size: int = Field(1, ge=1, description="a client with fewer training images is refused; nothing is moved")

    @field_validator("ids", mode="before")
    @classmethod
    def _numbers_are_names(cls, value: Any) -> Any:
        return [str(name) if isinstance(name, int) else name for name in value] if isinstance(value, list) else value


@dataclass(frozen=True, eq=False)
class Split:
    """The owner of each sample of the whole training set, as a place in `ids`; −1 for nobody."""

    ids: tuple[str, ...]
    owner: Indices
    digest: str
    """sha256 of the file."""

    def among(self, numbers: Indices, options: FileOptions) -> list[Indices]:
        """The samples of each client, as places in `numbers`: what is left of the whole set for training."""
        owner = self.owner[numbers]
        sizes = np.bincount(owner[owner >= 0], minlength=len(self.ids))
        small = np.flatnonzero(sizes < options.min_size)
        if len(small):
            client = small[0]
            given = int((self.owner == client).sum())
            what = (
                f"{len(small)} of {len(self.ids)} clients have fewer training samples than partition.min_size="
                f"{options.min_size}: client '{self.ids[client]}' has {sizes[client]} left of {given}"
            )
            fix = "give these clients more samples, or lower data.validation, data.public or partition.min_size"
            raise PartitionError(what, where=WHERE, fix=f"{fix}; data.limit takes samples away too")
        return [np.flatnonzero(owner == client) for client in range(len(self.ids))]


@SPLITTERS.register("file", aliases=("from-file",), options=FileOptions, traits=("own-file",))
def file(labels: Labels, n_classes: int, options: FileOptions, rng: np.random.Generator) -> list[Indices]:
    """The split of labels that are a whole training set; `allot` splits what is left of one."""
    whole = SampleNumbers(np.arange(len(labels)), len(labels))
    return read_split(options, whole.size, None).among(whole.numbers, options)


def split_path(options: FileOptions, folder: Path | None) -> Path:
    """The file, in the data folder or else in the working folder."""
    if options.file is None:
        raise PartitionError("no split file was named", where=WHERE, fix="partition.file=NAME.csv")
    if Path(options.file).is_absolute():
        what = f"partition.file={options.file} is a path of this machine, and a configuration must mean the same on all"
        fix = "put the file into the data folder or the working folder and name it from there"
        raise PartitionError(what, where=WHERE, fix=fix)
    place = data_folder(folder)
    places = [*([place] if place is not None else []), Path.cwd()]
    for each in places:
        if (each / options.file).is_file():
            return each / options.file
    where = f"looked in {' and '.join(map(str, places))}"
    raise PartitionError(f"the split {options.file} was not found", where=where, fix=f"check {WHERE}")


def split_digest(options: PartitionOptions, folder: Path | None) -> str:
    """sha256 of the split file; empty for splitters that read none."""
    if not isinstance(options, FileOptions):
        return ""
    return hashlib.sha256(_bytes(split_path(options, folder))).hexdigest()


def read_split(options: FileOptions, size: int, folder: Path | None) -> Split:
    """The split of a whole training set of `size` samples, checked."""
    path = split_path(options, folder)
    digest = hashlib.sha256(_bytes(path)).hexdigest()
    try:
        rows = read_rows(path, size)
    except DataError as error:
        fix = f"{error.fix}; a split has the columns 'sample' and 'client'"
        raise PartitionError(error.what, where=error.where, fix=fix) from error
    where = str(path)
    _require_samples(rows, size, where)
    ids, owner = np.unique(rows.clients[rows.is_owned], return_inverse=True)
    if len(ids) == 0:
        raise PartitionError("no sample has a client", where=where, fix="fill in the column 'client'")
    _require_clients(tuple(map(str, ids)), options, where)
    placed = np.full(size, NOBODY, dtype=np.int64)
    placed[rows.samples[rows.is_owned]] = owner
    return Split(tuple(map(str, ids)), placed, digest)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"the split {path.name} cannot be read ({error.strerror})"
        raise PartitionError(what, where=str(path), fix="check that it is a file that you may read") from error


def _require_samples(rows: SplitRows, size: int, where: str) -> None:
    samples = rows.samples
    strange = samples[(samples < 0) | (samples >= size)]
    if len(strange):
        what = f"{len(strange)} of {len(samples)} rows name samples that do not exist: {_some(strange)}"
        fix = f"the whole training set has {size} samples, numbered 0 to {size - 1}; validation is still among them"
        raise PartitionError(what, where=where, fix=fix)
    times = np.bincount(samples, minlength=size)
    twice = np.flatnonzero(times > 1)
    if len(twice):
        owners = rows.clients[samples == twice[0]]
        what = (
            f"{len(twice)} samples are given more than once: {_some(twice)}; "
            f"sample {twice[0]} to {', '.join(str(owner) for owner in owners[:FIRST])}"
        )
        raise PartitionError(what, where=where, fix="give every sample to one client")
    missing = np.flatnonzero(times == 0)
    if len(missing):
        what = f"{len(missing)} of {size} samples are missing: {_some(missing)}"
        fix = "list every sample of the whole training set; leave its client empty (−1 in a .npy) to train nobody on it"
        raise PartitionError(what, where=where, fix=fix)


def _require_clients(found: tuple[str, ...], options: FileOptions, where: str) -> None:
    if options.clients is not None and options.clients != len(found):
        what = f"partition.clients={options.clients}, and the file has {len(found)} clients: {_some(found)}"
        raise PartitionError(what, where=where, fix="leave partition.clients out, or use the file it was meant for")
    if options.ids is None:
        return
    unknown = [name for name in found if name not in options.ids]
    absent = [name for name in options.ids if name not in found]
    for names, what in (
        (unknown, "clients of the file are not in partition.ids"),
        (absent, "of partition.ids own no sample"),
    ):
        if names:
            raise PartitionError(
                f"{len(names)} {what}: {_some(names)}", where=where, fix="correct the file or partition.ids"
            )


def _some(things: Indices | list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(str(thing) for thing in things[:FIRST])
    return f"{shown}, …" if len(things) > FIRST else shown
