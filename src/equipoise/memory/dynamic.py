"""The dynamic memory of a client: positions of its own history that were surprising or new.

    write t    if z_t > surprise, or (n_t − m)/d > novelty        n_t = 1 − max_{s ∈ last 50} ⟨f_t, f_s⟩
    short      the last 50 written positions, first in, first out; the oldest moves to the long term
    long       200 rows; a near-duplicate (⟨f, f'⟩ ≥ merge) joins the existing row: uses + 1, time = now
    utility    e^{−age·ln 2/half_life} + ln(1 + uses)/ln(2 + uses)        the row with the least utility is replaced

z_t is the standardised loss of the client at position t. f are the item features, of length 1. m and d are mean and
deviation of n before t, so novelty is relative to what this user is used to, whatever features are given. An item
without features is neither written nor counted. Time is the position in the history, not wall-clock time. The memory
before position t depends on earlier positions only, so it cannot hold its own target unless the user met that item
before. Source: ours, after the fifth original report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Indices, Mask
from equipoise.memory.product import FeatureRows, product
from equipoise.memory.settings import MemoryOptions

MemoryRows = tuple[Indices, Indices, Indices]
"""(position, time of the last use, uses) of each row: three arrays [R]."""
COLUMNS = ("positions", "times", "uses")
"""Names of these arrays in a client's state."""
BEFORE = 50
"""Number of earlier positions that novelty compares with."""
AT_LEAST = 10
"""Number of positions that are needed to estimate what is usual."""


class DynamicMemory:
    """Short-term and long-term rows. Long-term rows have fixed slots, so replacing one moves no other."""

    def __init__(self, width: int, options: MemoryOptions) -> None:
        self.options = options
        self.short: list[int] = []
        self.n_long = 0
        self.columns = np.zeros((3, options.long), dtype=np.int64)  # position, time of the last use, uses
        self.features = np.zeros((options.long, width), dtype=np.float32)

    def rows(self) -> MemoryRows:
        long, short = self.columns[:, : self.n_long], np.array(self.short, dtype=np.int64)
        positions, times, uses = np.concatenate([long, [short, short, np.ones_like(short)]], axis=1)
        return positions, times, uses

    def write(self, position: int, features: FeatureRows) -> None:
        self.short.append(position)
        if len(self.short) > self.options.short:
            self._keep(self.short.pop(0), position, features)

    def _keep(self, leaving: int, now: int, features: FeatureRows) -> None:
        """Move a position to the long term: into its near-duplicate, a free slot, or the least useful row's slot."""
        _, times, uses = self.columns[:, : self.n_long]
        if self.n_long:
            cosine = product(self.features[: self.n_long], features[leaving])
            twin = int(cosine.argmax())
            if cosine[twin] >= self.options.merge:
                uses[twin] += 1
                times[twin] = now
                return
        if self.n_long < self.options.long:
            slot, self.n_long = self.n_long, self.n_long + 1
        else:
            slot = int(utility(times, uses, now, self.options).argmin())
        self.columns[:, slot] = leaving, leaving, 1
        self.features[slot] = features[leaving]


def novelty(features: FeatureRows) -> NDArray[np.float32]:
    """n_t of every position, 1 at the first; features [n, d] have length 1."""
    n = len(features)
    nearest = np.zeros(n, dtype=np.float32)
    for first in range(0, n, BEFORE):
        last, before = min(first + BEFORE, n), max(0, first - BEFORE)
        cosine = product(features[first:last], features[before:last].T)
        age = np.arange(first, last)[:, None] - np.arange(before, last)[None]
        cosine[(age < 1) | (age > BEFORE)] = -np.inf
        nearest[first:last] = cosine.max(1)
    nearest[:1] = 0
    return 1 - nearest


def unusual(new: FeatureRows, known: Mask) -> FeatureRows:
    """(n_t − m)/d of every position, over earlier positions with features; 0 while there are too few of them."""
    seen, counted = _before(known), np.where(known, new, np.float32(0))
    n = np.maximum(seen, 1)
    mean = _before(counted) / n
    deviation = np.sqrt(np.maximum(_before(counted.astype(np.float64) ** 2) / n - mean**2, 0))
    z: FeatureRows = ((new - mean) / np.maximum(deviation, 1e-6)).astype(np.float32)
    return np.where(seen < AT_LEAST, np.float32(0), z)


def _before(values: NDArray[Any]) -> NDArray[np.float64]:
    """The sum of all earlier values, at each position."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])


def written(surprise: FeatureRows, new: FeatureRows, known: Mask, options: MemoryOptions) -> Mask:
    """Which positions are written. The first ones all are, because nothing is usual yet. `known` marks items with
    features; others are never written."""
    start = _before(known) < AT_LEAST
    return known & (start | (surprise > options.surprise) | (unusual(new, known) > options.novelty))


def replay(features: FeatureRows, writes: Mask, bounds: Sequence[int], options: MemoryOptions) -> Iterator[MemoryRows]:
    """The rows of the memory before each of the ascending positions `bounds`."""
    memory, done = DynamicMemory(features.shape[1], options), 0
    for bound in bounds:
        for position in (np.flatnonzero(writes[done:bound]) + done).tolist():
            memory.write(position, features)
        done = max(done, bound)
        yield memory.rows()


def utility(times: Indices, uses: Indices, now: int, options: MemoryOptions) -> NDArray[np.float64]:
    """The sum of recency and frequency, each between 0 and 1."""
    recency: NDArray[np.float64] = np.exp(-(now - times) * np.log(2) / options.half_life)
    return np.add(recency, np.log1p(uses) / np.log(2 + uses))


def retrieve(
    rows: MemoryRows, features: FeatureRows, query: FeatureRows, now: int, options: MemoryOptions
) -> tuple[Indices, Mask]:
    """The `read` rows with the highest mix of similarity to the query and utility: (positions [M], valid [M]).

    `features` [R, d] belong to the rows.
    """
    positions, times, uses = rows
    score = (1 - options.mix) * product(features, query) + options.mix * utility(times, uses, now, options) / 2
    best = np.argsort(-score, kind="stable")[: options.read]
    chosen = np.zeros(options.read, dtype=np.int64)
    chosen[: len(best)] = positions[best]
    return chosen, np.arange(options.read) < len(best)
