"""Divide labels among clients: a checked, fingerprinted partition with its realised skew.

    indices = splitter(labels, n_classes, options, stream(seed, "partition")) → check → fingerprint → skew

The same labels, settings and seed give the same fingerprint on every machine. Where clients are drawn on demand, only
the first thousand are counted; see `sample`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import SPLITTERS, Entry
from equipoise.core.streams import stream
from equipoise.core.values import Event, Indices, Labels
from equipoise.partition.check import Check, declares_overlap, examine, require_partition
from equipoise.partition.drawn import ON_DEMAND, Drawn
from equipoise.partition.fingerprint import fingerprint
from equipoise.partition.owners import require_room
from equipoise.partition.sample import counted, expected
from equipoise.partition.skew import realised_skew


@dataclass(frozen=True, eq=False)
class Partition:
    """Who owns which sample: `indices` ascending per client, `counts` int64 [K, C] samples per client and class.

    Where clients are drawn on demand, `counts` and `skew` are of the first thousand.
    """

    name: str
    indices: Sequence[Indices]
    fingerprint: str
    skew: dict[str, float]
    overlaps: bool
    counts: Indices
    check: Check
    ids: tuple[str, ...] = ()
    """The clients' own ids, where a split file gives them."""
    source: str = ""
    """sha256 of the split file, where there is one."""

    @property
    def counted(self) -> Sequence[Indices]:
        """The samples of the clients in `counts`."""
        return counted(self.indices)

    @property
    def is_sampled(self) -> bool:
        """Whether there are more clients than were counted."""
        return len(self.counts) < len(self.indices)


def divide(labels: Labels, n_classes: int, options: PartitionOptions, seed: int) -> Partition:
    """The partition of that splitter and seed, or a PartitionError that says what to change."""
    _require_labels(labels, n_classes)
    entry = SPLITTERS.find(options.name, "partition")
    if not isinstance(options, entry.options):
        options = _completed(options, entry)
    labels = labels.astype(np.int64, copy=False)
    if ON_DEMAND not in entry.traits and not declares_overlap(options):
        require_room(len(labels), options)  # before anything is drawn, which may be larger than memory
    made = entry.make(labels, n_classes, options, seed if ON_DEMAND in entry.traits else stream(seed, "partition"))
    return certified(made if isinstance(made, Drawn) else tuple(made), labels, n_classes, options)


def certified(indices: Sequence[Indices], labels: Labels, n_classes: int, options: PartitionOptions) -> Partition:
    """The partition with these indices, or a PartitionError where they are not what the splitter promises."""
    some = counted(indices)
    check = examine(some, labels, n_classes)
    require_partition(check, options)
    counts, totals = count(some, labels, n_classes), np.bincount(labels, minlength=n_classes)
    of_all: dict[str, float] = {}
    if len(some) < len(indices):
        check = expected(check, counts, totals, len(indices))
        of_all = {"samples": float(counts.sum() / len(some) * len(indices)), "counted": float(len(some))}
    return Partition(
        name=SPLITTERS.find(options.name).name,
        indices=indices,
        fingerprint=indices.fingerprint if isinstance(indices, Drawn) else fingerprint(indices),
        skew=realised_skew(counts, totals, check.overlap) | of_all,
        overlaps=declares_overlap(options),
        counts=counts,
        check=check,
    )


def count(indices: Sequence[Indices], labels: Labels, n_classes: int) -> Indices:
    """Samples per client (rows) and class (columns)."""
    client = np.repeat(np.arange(len(indices)), [len(index) for index in indices])
    cell = client * n_classes + labels[np.concatenate(indices)]
    return np.bincount(cell, minlength=len(indices) * n_classes).reshape(len(indices), n_classes)


def events(partition: Partition) -> list[Event]:
    """What a run must record beside the numbers: which split file it used, and whether clients share samples."""
    if partition.source:
        return [_from_file(partition)]
    if not partition.overlaps:
        return []
    check, some = partition.check, ""
    detail = {"overlap": check.overlap, "unowned": check.unowned, "fingerprint": partition.fingerprint}
    if partition.is_sampled:
        detail["counted"] = len(partition.counts)
        some = f" (expected, from the first {len(partition.counts)} of {len(partition.indices)} clients)"
    message = (
        f"partition {partition.name} is not a partition: {check.overlap:.1%} of the samples belong to several clients"
        f" and {check.unowned:.1%} to none{some}; do not compare with numbers from a disjoint splitter"
    )
    return [Event("partition-overlap", message, detail=detail)]


def _from_file(partition: Partition) -> Event:
    shown = ", ".join(partition.ids[:5]) + (", …" if len(partition.ids) > 5 else "")
    unowned = partition.check.unowned
    gap = f"; {unowned:.1%} of the training samples belong to nobody" if unowned else ""
    message = f"the split file names {len(partition.ids)} clients, in this order: {shown}{gap}"
    detail = {"sha256": partition.source, "ids": list(partition.ids), "unowned": unowned}
    return Event("split-file", message, detail=detail)


def _completed(options: PartitionOptions, entry: Entry[Any]) -> PartitionOptions:
    """A plain block with the splitter's own settings at their defaults."""
    full = entry.options.model_validate(options.model_dump() | {"name": entry.name})
    assert isinstance(full, PartitionOptions)
    return full


def _require_labels(labels: Labels, n_classes: int) -> None:
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise DataError(f"labels must be whole numbers in one row, got {labels.dtype} of shape {labels.shape}")
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        what = f"labels run from {labels.min()} to {labels.max()}, there are {n_classes} classes"
        raise DataError(what, where="partition", fix="check that labels and class names come from the same data")
