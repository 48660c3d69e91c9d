"""Every client draws its own images on demand: any number of clients, of which only the active ones are in memory.

    client k, from its own stream (seed, "partition", k):
    q ~ Dir(α·1_C), over the classes that have images;  `size` places, each asks for a class c ~ q
    a class that is used up is asked for no more;  n_kc images of class c, uniformly, none of them twice

A client's draw depends neither on other clients nor on their number: the first thousand of 100 000 clients are those
of 1000. Clients share images, so this is NOT a partition, and every run with it is marked.
The fingerprint is a hash of the rule, which determines everything: sha256("equipoise/partition/drawn/1" ‖ C, clients,
size, α, seed as JSON ‖ labels), little-endian int64. `min_size` has no effect here: every client has `size` images.
Source: ours; label shares per client as in FedDyn (Acar et al. 2021), drawn with replacement across clients.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, overload

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.core.values import Indices, Labels
from equipoise.partition.dirichlet_client import asked
from equipoise.partition.draws import few, log_dirichlet

ON_DEMAND = "on-demand"
"""The trait of a splitter that gets the seed itself and draws clients one by one."""
PREFIX = b"equipoise/partition/drawn/1"
KEPT = 1024
"""Clients whose draw is cached."""


class DrawnOptions(PartitionOptions):
    """CLIENTS SHARE SAMPLES under this splitter; every run that uses it is marked."""

    overlaps: ClassVar[bool] = True

    name: str = "drawn"
    alpha: float = Field(0.5, gt=0, description="concentration of each client's label shares; CLIENTS SHARE SAMPLES")
    size: int = Field(20, ge=1, description="images that each client draws")


class Drawn(Sequence[Indices]):
    """The images of client k, ascending, drawn on demand."""

    def __init__(self, labels: Labels, n_classes: int, options: DrawnOptions, seed: int) -> None:
        self.options, self.seed = options, seed
        self.stock = np.bincount(labels, minlength=n_classes)
        self.members = np.split(np.argsort(labels, kind="stable"), np.cumsum(self.stock)[:-1])
        self.fingerprint = _fingerprint(labels, n_classes, options, seed)
        self._known = lru_cache(maxsize=KEPT)(self._draw)

    def __len__(self) -> int:
        return self.options.clients

    @overload
    def __getitem__(self, client: int) -> Indices: ...
    @overload
    def __getitem__(self, client: slice) -> list[Indices]: ...
    def __getitem__(self, client: int | slice) -> Indices | list[Indices]:
        which = range(len(self))[client]  # raises IndexError, which ends an iteration
        return self._known(which) if isinstance(which, int) else [self._known(k) for k in which]

    def _draw(self, client: int) -> Indices:
        rng = stream(self.seed, "partition", client)
        log_q = log_dirichlet(self.options.alpha, (1, len(self.stock)), rng)
        taken = np.zeros_like(self.stock)
        while places := int(self.options.size - taken.sum()):  # each pass fills them all or uses up a class
            wanted = asked(np.zeros(places, np.int64), log_q, np.flatnonzero(taken < self.stock), rng)
            taken = np.minimum(taken + np.bincount(wanted, minlength=len(taken)), self.stock)
        return np.sort(np.concatenate([few(self.members[c], int(taken[c]), rng) for c in np.flatnonzero(taken)]))


@SPLITTERS.register("drawn", options=DrawnOptions, traits=(ON_DEMAND,))
def drawn(labels: Labels, n_classes: int, options: DrawnOptions, seed: int) -> Drawn:
    where = f"partition {options.name}"
    if options.size > len(labels):
        what = f"a client of {options.size} images needs as many, there are {len(labels)}"
        raise PartitionError(what, where=where, fix="lower partition.size or raise data.limit")
    if options.size < options.min_size:
        what = f"every client draws {options.size} images, partition.min_size is {options.min_size}"
        raise PartitionError(what, where=where, fix="raise partition.size or lower partition.min_size")
    return Drawn(labels, n_classes, options, seed)


def _fingerprint(labels: Labels, n_classes: int, options: DrawnOptions, seed: int) -> str:
    rule = json.dumps([n_classes, options.clients, options.size, options.alpha, seed])
    digest = hashlib.sha256(PREFIX + rule.encode())
    digest.update(np.asarray(labels, dtype="<i8").tobytes())
    return digest.hexdigest()
