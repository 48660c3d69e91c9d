"""NOT a partition: the overlapping splitter behind FAFI's published tables, kept so that they can be reproduced.

    for each class c:  q ~ Dir(α·1_K);  client k takes min(n_c, round(10·n_0·q_k)) samples of c from a fresh shuffle,
                       without removing them;  n_0 is the size of class 0, for every class

A client with q_k ≥ n_c/(10·n_0) holds the whole class, many samples belong to several clients, and with more than ten
clients some may belong to none. Numbers from it do not compare with numbers from a disjoint splitter.
A client below `min_size` takes more of the classes in which its q_k is largest, up to that minimum.
Source: zenghui9977/FAFI_ICML25, `dirichlet`; also behind IntactOFL and OFL_experiment. The minimum is ours.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import Shares, log_dirichlet

OVERSHOOT = 10
"""How many times the size of class 0 is shared out, per class."""


class FafiOverlapOptions(PartitionOptions):
    """CLIENTS SHARE SAMPLES under this splitter; every run that uses it is marked."""

    overlaps: ClassVar[bool] = True

    name: str = "fafi-overlap"
    alpha: float = Field(0.5, gt=0, description="concentration of Dir(α·1_K) per class; CLIENTS SHARE SAMPLES")


@SPLITTERS.register("fafi-overlap", options=FafiOverlapOptions)
def fafi_overlap(
    labels: Labels, n_classes: int, options: FafiOverlapOptions, rng: np.random.Generator
) -> list[Indices]:
    sizes = np.bincount(labels, minlength=n_classes)
    _require_samples(sizes, options)
    log_q = log_dirichlet(options.alpha, (n_classes, options.clients), rng)
    wanted = topped_up(takes(sizes, np.exp(log_q)), log_q, sizes, options.min_size)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    held: list[list[Indices]] = [[] for _ in range(options.clients)]
    for label, client in np.argwhere(wanted):
        held[client].append(_drawn(members[label], wanted[label, client], rng))
    return [np.sort(np.concatenate(parts)) for parts in held]


def takes(sizes: Indices, shares: Shares) -> Indices:
    """How many samples of each class (rows) each client (columns) takes: min(n_c, round(10·n_0·q_k))."""
    wanted: Indices = np.rint(OVERSHOOT * sizes[0] * shares).astype(np.int64)
    return np.minimum(sizes[:, None], wanted)


def topped_up(wanted: Indices, log_q: Shares, sizes: Indices, min_size: int) -> Indices:
    """The same, with more from the classes of largest q for every client below the minimum."""
    wanted = wanted.copy()
    for client in np.flatnonzero(wanted.sum(axis=0) < min_size):
        order = np.argsort(-log_q[:, client], kind="stable")
        room = np.cumsum(sizes[order] - wanted[order, client])
        short = min_size - wanted[:, client].sum()
        wanted[order, client] += np.diff(np.minimum(room, short), prepend=0)
    return wanted


def _drawn(members: Indices, count: int, rng: np.random.Generator) -> Indices:
    """A uniform choice of `count` members: those of the smallest random keys."""
    if count == len(members):
        return members
    return members[np.argpartition(rng.random(len(members)), count - 1)[:count]]


def _require_samples(sizes: Indices, options: FafiOverlapOptions) -> None:
    where = f"partition {options.name}"
    if sizes[0] == 0:
        what = "class 0 has no samples, and this splitter measures every class by it"
        raise PartitionError(what, where=where, fix="use partition=dirichlet")
    if options.min_size > sizes.sum():
        what = f"a client of at least {options.min_size} needs as many samples, there are {sizes.sum()}"
        raise PartitionError(what, where=where, fix="lower partition.min_size or raise data.limit")
