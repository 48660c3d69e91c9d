"""Check that an index map is a partition, before anybody trains on it.

    disjoint   no sample has two clients            covering   every sample has a client
    labels     Σ_k n_kc = n_c for every class c     overlap    share of all samples that have two clients or more

Only a splitter that declares `overlaps` may share samples or leave some out, and its overlap is reported. One that
declares `gaps`, a split file that leaves samples to nobody, may leave some out. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.values import Indices, Labels


@dataclass(frozen=True)
class Check:
    """What examination found; `unowned` is the share of samples without a client, `smallest` a client's size."""

    disjoint: bool
    covering: bool
    labels_equal: bool
    overlap: float
    unowned: float
    smallest: int


def examine(indices: Sequence[Indices], labels: Labels, n_classes: int) -> Check:
    """The facts about an index map, from the indices alone; one that no client could use is an error."""
    flat = np.concatenate([np.empty(0, np.int64), *indices])
    _require_well_formed(indices, flat, len(labels))
    holders = np.bincount(flat, minlength=len(labels))
    owned = np.bincount(labels[flat], minlength=n_classes)
    return Check(
        disjoint=bool((holders <= 1).all()),
        covering=bool((holders >= 1).all()),
        labels_equal=bool((owned == np.bincount(labels, minlength=n_classes)).all()),
        overlap=_share(holders >= 2),
        unowned=_share(holders == 0),
        smallest=min((len(index) for index in indices), default=0),
    )


def require_partition(check: Check, options: PartitionOptions) -> None:
    """Refuse clients below the minimum, and overlap and gaps unless the splitter declares them."""
    if check.smallest < options.min_size:
        what = f"the smallest client has {check.smallest} samples, partition.min_size is {options.min_size}"
        raise _refusal(what, options)
    if declares_overlap(options):
        return
    if not check.disjoint:
        raise _refusal(f"{check.overlap:.1%} of the samples belong to several clients", options)
    if not check.covering and not declares_gaps(options):
        raise _refusal(f"{check.unowned:.1%} of the samples belong to no client", options)


def declares_overlap(options: PartitionOptions) -> bool:
    return bool(getattr(options, "overlaps", False))


def declares_gaps(options: PartitionOptions) -> bool:
    return bool(getattr(options, "gaps", False))


def _refusal(what: str, options: PartitionOptions) -> PartitionError:
    fix = "use a splitter of `equipoise.partition`, such as dirichlet; only fafi-overlap and drawn may share"
    return PartitionError(what, where=f"partition {options.name}", fix=fix)


def _share(chosen: np.typing.NDArray[np.bool_]) -> float:
    return float(chosen.mean()) if len(chosen) else 0.0


def _require_well_formed(indices: Sequence[Indices], flat: Indices, n_samples: int) -> None:
    if len(flat) and not 0 <= flat.min() <= flat.max() < n_samples:
        what = f"indices run from {flat.min()} to {flat.max()}, there are {n_samples} samples"
        raise PartitionError(what, where="partition check", fix="split the labels of this data, not of another subset")
    starts = np.cumsum([len(index) for index in indices])[:-1]
    rises = np.diff(flat) > 0
    rises[[start - 1 for start in starts if 0 < start < len(flat)]] = True
    if not rises.all():
        at = int(np.argmin(rises))
        what = f"a client lists sample {flat[at + 1]} after {flat[at]}: indices must ascend, without repeats"
        raise PartitionError(what, where="partition check", fix="sort each client's indices and drop repeats")
