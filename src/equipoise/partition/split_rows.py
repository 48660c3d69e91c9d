"""Rows of a split file: read from CSV, TSV, Parquet or .npy, and written from any partition.

sample,client          sample: number in the whole training set;  client: an id, or empty for nobody
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from equipoise.core.errors import DataError, PartitionError
from equipoise.core.values import Indices, Mask
from equipoise.data.columns import ids_of, read_table
from equipoise.data.interactions import Ids
from equipoise.data.splits import SampleNumbers
from equipoise.partition.divide import Partition

NOBODY = -1
WRITTEN = (".csv", ".tsv", ".parquet", ".npy")
"""Suffixes of files that a split can be written to."""


@dataclass(frozen=True, eq=False)
class SplitRows:
    """One row per sample: its number, its client's id, and whether it has a client at all."""

    samples: Indices
    clients: Ids
    is_owned: Mask


def read_rows(path: Path, size: int) -> SplitRows:
    """The rows of a split; a DataError where the file is not one."""
    return _read_array(path, size) if path.suffix == ".npy" else _read_table(path)


def _read_table(path: Path) -> SplitRows:
    table, where = read_table(path, ["sample", "client"]), str(path)
    samples = ids_of(table["sample"], where)
    if samples.dtype.kind not in "iu":
        odd = next(text for text in samples if not text.removeprefix("-").isdigit())
        raise DataError(f"samples are whole numbers, found '{odd}'", where=where, fix="number the samples from 0")
    is_owned = table["client"].is_not_null().to_numpy()
    known = ids_of(table["client"].drop_nulls(), where)
    clients = np.zeros(len(table), dtype=known.dtype)
    clients[is_owned] = known
    return SplitRows(samples.astype(np.int64), clients, is_owned)


def _read_array(path: Path, size: int) -> SplitRows:
    where = str(path)
    try:
        with path.open("rb") as file:
            owner = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        what = f"cannot use {path.name}: it is not a whole .npy file ({error})"
        raise DataError(what, where=where, fix="write it again with np.save") from error
    if not isinstance(owner, np.ndarray) or owner.ndim != 1 or owner.dtype.kind not in "iu":
        found = f"{owner.dtype} of shape {owner.shape}" if isinstance(owner, np.ndarray) else "several arrays"
        raise DataError(f"expected a row of whole numbers, found {found}", where=where, fix="save one id per sample")
    if len(owner) != size:
        what = f"it has {len(owner)} ids, the whole training set has {size} samples"
        raise DataError(what, where=where, fix="save one id per sample; validation is still among the samples")
    return SplitRows(np.arange(size), owner, owner != NOBODY)


def owners_of(partition: Partition, origin: SampleNumbers) -> Indices:
    """The client of each sample of the whole training set, −1 where it has none or was held out."""
    if partition.overlaps:
        what = f"clients of partition '{partition.name}' share samples, and a split file gives each to one client"
        raise PartitionError(what, where="--output", fix="choose a splitter without overlap, such as dirichlet")
    owner = np.full(origin.size, NOBODY, dtype=np.int64)
    for client, index in enumerate(partition.indices):
        owner[origin.numbers[index]] = client
    return owner


def write_rows(path: Path, owner: Indices, ids: tuple[str, ...]) -> None:
    """Write who owns each sample of the whole training set; `ids` are used where the clients have some."""
    if path.suffix.lower() == ".npy":
        with path.open("wb") as file:
            np.save(file, owner, allow_pickle=False)
        return
    import polars as pl

    clients = [None if place == NOBODY else ids[place] if ids else place for place in owner.tolist()]
    table = pl.DataFrame({"sample": np.arange(len(owner)), "client": clients})
    if path.suffix.lower() == ".parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")
