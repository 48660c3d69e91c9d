"""What a client's memory offers each window of its history, and what is left of it for the next task.

    offered(window at a) = rows read for the query mean f of the 10 items before a, from what was written before a

Without a dynamic memory the experts read the most recent items instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Indices
from equipoise.memory.dynamic import Kept, novelty, replay, retrieve, written
from equipoise.memory.product import FeatureRows
from equipoise.memory.settings import MemoryOptions

RECENT = 10
"""Items that stand for what the user wants just now."""
READ = 20
"""Items read where there is no dynamic memory."""

Offer = tuple[Indices, NDArray[np.bool_]]
"""Items [W, M] and which of them are there [W, M]."""


def standardised(losses: FeatureRows, level: FeatureRows) -> FeatureRows:
    """z of each loss; 0, which surprises nobody, where a position was never trained on (−1)."""
    z: FeatureRows = (losses - level[0]) / max(float(level[1]), 1e-6)
    return np.where(losses < 0, np.float32(0), z)


def last_items(history: Indices, bounds: Sequence[int], count: int) -> Offer:
    """The `count` items before each position, the newest last."""
    at = np.asarray(bounds)[:, None] - count + np.arange(count)
    return history[at.clip(min=0)], at >= 0


class Recall:
    """One user's memory; `features` [V, d] of length 1 are those of all items."""

    def __init__(self, history: Indices, features: FeatureRows, options: MemoryOptions) -> None:
        self.history, self.options = history, options
        self.features = features[history]
        self.new, self.known = novelty(self.features), np.asarray(self.features.any(1))

    def offers(self, surprise: FeatureRows, bounds: Sequence[int]) -> Offer:
        """For ascending positions: what is read before each."""
        found = zip(bounds, self.at(surprise, bounds), strict=True)
        chosen = [self.read(rows, at) for at, rows in found]
        positions, valid = (np.stack(part) for part in zip(*chosen, strict=True))
        return self.history[positions] * valid, valid

    def at(self, surprise: FeatureRows, bounds: Sequence[int]) -> Iterator[Kept]:
        """All that is remembered before each of ascending positions."""
        return replay(self.features, self._written(surprise), bounds, self.options)

    def read(self, rows: Kept, at: int) -> Offer:
        """Positions in the history that are read at a moment."""
        return retrieve(rows, self.features[rows[0]], query(self.features, at), at, self.options)

    def write_rate(self, surprise: FeatureRows) -> float:
        return float(self._written(surprise).mean())

    def _written(self, surprise: FeatureRows) -> NDArray[np.bool_]:
        return written(surprise, self.new, self.known, self.options)


def query(features: FeatureRows, at: int) -> FeatureRows:
    """What the user wants at a position: the direction of the last items' features [n, d]."""
    mean = features[max(0, at - RECENT) : at].sum(0)
    direction: FeatureRows = mean / max(float(np.linalg.norm(mean)), 1e-6)
    return direction
