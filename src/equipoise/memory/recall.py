"""What a recommender's experts read at a position of a user's history.

    read at t = the rows that memory held before t which are nearest to the query q_t
    q_t = direction of Σ f_s over the 10 items before t

Without a dynamic memory the experts read the most recent items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.core.values import Indices, Mask
from equipoise.memory.dynamic import MemoryRows, novelty, replay, retrieve, written
from equipoise.memory.product import FeatureRows
from equipoise.memory.settings import MemoryOptions

RECENT = 10
"""Number of recent items that describe what the user wants now."""
READ = 20
"""Number of recent items that experts read where there is no dynamic memory."""

ReadItems = tuple[Indices, Mask]
"""Items [..., M], and which of these places hold an item [..., M]."""


def standardised(losses: FeatureRows, level: FeatureRows) -> FeatureRows:
    """z = (loss − mean)/deviation of each position; 0, no surprise, where a position was never trained on (loss −1)."""
    z: FeatureRows = (losses - level[0]) / max(float(level[1]), 1e-6)
    return np.where(losses < 0, np.float32(0), z)


def last_items(history: Indices, bounds: Sequence[int], count: int) -> ReadItems:
    """The `count` items before each position, the newest last."""
    at = np.asarray(bounds)[:, None] - count + np.arange(count)
    return history[at.clip(min=0)], at >= 0


def read_recent(history: Indices, at: int, has_features: bool) -> ReadItems:
    """Without a dynamic memory: the most recent items before a position. A model without experts reads none of them."""
    (items,), (valid,) = last_items(history, [at], READ if has_features else 1)
    return items * valid, valid


def read_memory(
    rows: MemoryRows, history: Indices, features: FeatureRows, at: int, options: MemoryOptions
) -> ReadItems:
    """The items read at a position from the rows that memory held before it; `features` [V, d] are of all items."""
    recent = features[history[max(0, at - RECENT) : at]]
    positions, valid = retrieve(rows, features[history[rows[0]]], query(recent), at, options)
    return history[positions] * valid, valid


def query(recent: FeatureRows) -> FeatureRows:
    """What the user wants: the direction of the summed features [n, d] of the recent items."""
    total = recent.sum(0)
    direction: FeatureRows = total / max(float(np.linalg.norm(total)), 1e-6)
    return direction


class HistoryMemory:
    """The dynamic memory of one user, replayed along the history; `features` [V, d] of all items have length 1."""

    def __init__(self, history: Indices, features: FeatureRows, options: MemoryOptions) -> None:
        self.history, self.features, self.options = history, features, options
        self._own = features[history]
        self._new, self._known = novelty(self._own), np.asarray(self._own.any(1))

    def read_before(self, surprise: FeatureRows, bounds: Sequence[int]) -> list[ReadItems]:
        """What is read at each of the ascending positions."""
        found = zip(bounds, self.rows_before(surprise, bounds), strict=True)
        return [read_memory(rows, self.history, self.features, at, self.options) for at, rows in found]

    def rows_before(self, surprise: FeatureRows, bounds: Sequence[int]) -> Iterator[MemoryRows]:
        """All memory rows as they were before each of the ascending positions."""
        return replay(self._own, self._written(surprise), bounds, self.options)

    def features_of(self, rows: MemoryRows) -> FeatureRows:
        """The features [R, d] of memory rows."""
        return self._own[rows[0]]

    def write_rate(self, surprise: FeatureRows) -> float:
        """The share of positions that are written."""
        return float(self._written(surprise).mean())

    def _written(self, surprise: FeatureRows) -> Mask:
        return written(surprise, self._new, self._known, self.options)
