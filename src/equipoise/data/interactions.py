"""Interactions of users with items, in order, and features of the items: what every reader of interactions returns.

user u's items = items[bounds[u] : bounds[u + 1]], oldest first
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Indices

if TYPE_CHECKING:
    from equipoise.features.check import FeatureCheck

Ids = NDArray[Any]
"""Integers or strings, as they stand in the user's table."""
MODALITIES = ("visual", "text")
"""What may be known of an item."""


@dataclass(frozen=True)
class Interactions:
    """Items are numbered 0 … V−1 and users 0 … U−1 without gaps; `item_ids` and `user_ids` are their own names."""

    name: str
    items: Indices
    bounds: Indices
    times: Indices | None
    """Seconds; None where only the order is known."""
    user_ids: Ids
    item_ids: Ids
    notes: tuple[str, ...] = ()
    """What the reader changed: rows sorted, duplicates or users dropped."""
    changes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Where a generator changed each user's interest: a position in the history, −1 where it did not."""

    @property
    def n_users(self) -> int:
        return len(self.bounds) - 1

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @property
    def lengths(self) -> Indices:
        return np.diff(self.bounds)

    def history(self, user: int) -> Indices:
        return self.items[self.bounds[user] : self.bounds[user + 1]]


@dataclass(frozen=True)
class Features:
    """One modality of the items: float32 [V, d], rows of length 1; a row of zeros where `present` is false.

    Only the rows of the noise control are as short as they were drawn.
    """

    name: str
    rows: NDArray[np.float32]
    present: NDArray[np.bool_]
    check: FeatureCheck | None = None
    """Result of the check when the table was read."""


def content_of(interactions: Interactions, features: Mapping[str, Features]) -> str:
    """Hash of every interaction, moment, name and feature: what a run began with."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (*_arrays(interactions), *_feature_arrays(features)):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _arrays(interactions: Interactions) -> Iterator[NDArray[Any]]:
    yield interactions.items
    yield interactions.bounds
    yield np.empty(0) if interactions.times is None else interactions.times
    yield interactions.user_ids
    yield interactions.item_ids
    yield interactions.changes


def _feature_arrays(features: Mapping[str, Features]) -> Iterator[NDArray[Any]]:
    for name in sorted(features):
        yield np.array(name)
        yield features[name].rows
        yield features[name].present
