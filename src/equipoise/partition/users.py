"""Every user is a client, and owns its interactions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.config.traits import HISTORIES
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices
from equipoise.partition.check import examine
from equipoise.partition.divide import Partition, count
from equipoise.partition.fingerprint import fingerprint
from equipoise.partition.skew import realised_skew


class UsersOptions(PartitionOptions):
    name: str = "users"
    clients: int | None = Field(None, description="the users of the data; not a setting")  # type: ignore[assignment]


@SPLITTERS.register("users", options=UsersOptions, traits=(HISTORIES,))
def users(items: Indices, bounds: Indices, n_items: int) -> Partition:
    """Items [N] of all users one after another, and where each begins [U + 1]."""
    indices = tuple(np.arange(first, last) for first, last in pairwise(bounds))
    one_class = np.zeros(len(items), dtype=np.int64)
    check = examine(indices, one_class, 1)
    counts = count(indices, one_class, 1)
    return Partition(
        name="users",
        indices=indices,
        fingerprint=fingerprint(indices),
        skew=realised_skew(counts, np.array([len(items)]), check.overlap),
        overlaps=False,
        counts=counts,
        check=check,
    )
