"""Encode items into a table of features: batch by batch, stored group by group, renamed into place when complete.

    features_i = e(x_i) / ‖e(x_i)‖

An item without content, that cannot be read, or whose row is zero is left out of the table and counted; the reader of
the table masks it. Numbers that are not finite are an error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from equipoise import __version__
from equipoise.core.errors import ConfigError, DataError, Problem
from equipoise.data.interactions import Ids
from equipoise.data.rows import some
from equipoise.features.encoders import Encoder
from equipoise.features.items import Items, digest
from equipoise.features.lift import Matrix
from equipoise.features.load import unit
from equipoise.features.partial import DAMAGED, KEPT, ZERO, Group, add, begin, groups, partial_of, remove, save_arrays

T = TypeVar("T")
BATCHES = 16
"""Batches in a group: at most so many are repeated after a kill."""
Progress = Callable[[int, int], None]
"""Called with the number of items done and the total."""


@dataclass(frozen=True)
class EncodingJob:
    """Where the table goes and how it is made."""

    out: Path
    batch: int = 32
    half: bool = False
    skip_damaged: bool = False


@dataclass(frozen=True)
class Encoded:
    """A written table; `left_out` are the ids of the items without a row, by reason."""

    path: Path
    items: int
    width: int
    encoder: str
    left_out: dict[str, Ids]
    seconds: float

    @property
    def skipped(self) -> int:
        return sum(map(len, self.left_out.values()))


def silent(done: int, total: int) -> None:
    """A progress callback that does nothing."""


def require_free(out: Path, force: bool) -> None:
    """Refuse an output that exists already or cannot be written, before anything is read."""
    if out.suffix != ".npz":
        raise ConfigError([Problem("--out", f"the table is an npz file, and {out.name} is not called so")])
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {out.parent}", where=str(out), fix="make the folder first")
    if out.exists() and not (force and out.is_file()):
        fix = "choose another name, or replace it with --force" if out.is_file() else "choose another name"
        raise DataError(f"{out.name} is there already", where=str(out), fix=fix)


def encode(items: Items[T], encoder: Encoder[T], job: EncodingJob, progress: Progress = silent) -> Encoded:
    """Encode the remaining items, and write the table."""
    started, folder = time.monotonic(), partial_of(job.out)
    begin(folder, facts_of(items, encoder))
    done = groups(folder)
    for group in _rest(items, encoder, job, sum(len(group.status) for group in done), progress):
        add(folder, sum(len(group.status) for group in done), group)
        done.append(group)
    whole = joined(done)
    if not len(whole.rows):
        remove(folder)
        what = f"none of {len(items.ids)} items has a row: all were left out"
        raise DataError(what, where=items.source.where, fix="look at the files and at the encoder")
    write_table(items, encoder, job, whole)
    remove(folder)
    n_rows, width = whole.rows.shape
    left_out = left_out_of(items, whole)
    return Encoded(job.out, n_rows, width, encoder.name, left_out, time.monotonic() - started)


def _rest(items: Items[T], encoder: Encoder[T], job: EncodingJob, first: int, progress: Progress) -> Iterator[Group]:
    """The groups from item `first` on."""
    total, size = len(items.ids), job.batch * BATCHES
    progress(first, total)
    for start in range(first, total, size):
        batches = []
        for at in range(start, min(start + size, total), job.batch):
            batches.append(_batch(items, encoder, job, at))
            progress(at + len(batches[-1].status), total)
        yield joined(batches)


def facts_of(items: Items[T], encoder: Encoder[T]) -> dict[str, str]:
    ids = digest([str(items.ids.dtype.kind), *map(str, items.ids.tolist())])
    return {"encoder": encoder.name, "weights": encoder.fingerprint, "ids": ids, "content": items.stamp}


def _batch(items: Items[T], encoder: Encoder[T], job: EncodingJob, start: int) -> Group:
    """Read and encode a batch; an unreadable item is an error unless it may be skipped."""
    things = items.things[start : start + job.batch]
    status = np.full(len(things), KEPT, np.uint8)
    ready = []
    for i, thing in enumerate(things):
        try:
            ready.append(encoder.read(thing))
        except DataError:
            if not job.skip_damaged:
                raise
            status[i] = DAMAGED
    if not ready:
        return Group(status, np.empty((0, 0), np.float32))
    rows = encoder.encode(ready)
    there = np.flatnonzero(status == KEPT)
    _require_finite(rows, items.ids[start + there], encoder.name)
    is_zero = ~rows.any(axis=1)
    status[there[is_zero]] = ZERO
    return Group(status, unit(rows[~is_zero]))


def _require_finite(rows: Matrix, ids: Ids, name: str) -> None:
    is_finite = np.isfinite(rows).all(axis=1)
    if not is_finite.all():
        bad = ids[~is_finite].tolist()
        what = f"the encoder {name} gave numbers that are not finite for {len(bad)} of {len(ids)} items: {some(bad)}"
        raise DataError(what, where="--encoder", fix="look at these items and at the encoder; nothing is repaired")


def joined(parts: list[Group]) -> Group:
    """Join groups into one; a group without rows has no width."""
    rows = [part.rows for part in parts if len(part.rows)] or [np.empty((0, 0), np.float32)]
    return Group(np.concatenate([part.status for part in parts]), np.concatenate(rows))


def left_out_of(items: Items[T], whole: Group) -> dict[str, Ids]:
    reasons = {
        f"without {items.source.thing}": items.without,
        "damaged": items.ids[whole.status == DAMAGED],
        "with a row of zeros": items.ids[whole.status == ZERO],
    }
    return {reason: ids for reason, ids in reasons.items() if len(ids)}


def write_table(items: Items[T], encoder: Encoder[T], job: EncodingJob, whole: Group) -> None:
    facts = {
        "encoder": encoder.name,
        "fingerprint": encoder.fingerprint,
        **items.source.facts,
        "count": len(whole.rows),
        "left_out": {reason: len(ids) for reason, ids in left_out_of(items, whole).items()},
        "version": __version__,
    }
    arrays = {
        "item_id": items.ids[whole.status == KEPT],
        "features": whole.rows.astype(np.float16) if job.half else whole.rows,
        "facts": np.array(json.dumps(facts, ensure_ascii=False)),
    }
    save_arrays(job.out, arrays)
