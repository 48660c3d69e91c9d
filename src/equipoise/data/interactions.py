"""Who met what, in order, and what is known of the items: what every reader of interactions returns.

user u's items = items[bounds[u] : bounds[u + 1]], oldest first
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Indices

Ids = NDArray[Any]
"""Integers or strings, as they stand in the user's table."""


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
    """What the reader did that its user should know."""
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
    """One modality of the items: float32 [V, d], rows of length 1; a row of zeros where `present` is false."""

    name: str
    rows: NDArray[np.float32]
    present: NDArray[np.bool_]
