"""What clients tell of their memories, and what the server makes of it: a few centres, never an item.

    client   k-means (k = 5) on the features of its memory rows, each modality of length 1
    server   all clients' centres and what it knew before, weighted by the rows behind them, clustered anew

Centres have no order, so they are never averaged row by row. Modalities stand side by side, so that a centre's picture
and its text belong together; where one is not known its part is 0, and is left out of that part's mean. Source: ours,
after the fifth original report.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.core.streams import stream_seed
from equipoise.memory.product import FeatureRows, product

ROUNDS = 20
TINY = np.finfo(np.float32).tiny


def apart(rows: FeatureRows, widths: Sequence[int]) -> list[FeatureRows]:
    """The modalities of rows in which they stand side by side."""
    return np.split(rows, np.cumsum(widths)[:-1], axis=1)


def each_of_length_one(rows: FeatureRows, widths: Sequence[int]) -> FeatureRows:
    """The same rows with every modality of length 1; 0 where it is not known."""
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in apart(rows, widths)], 1)
    found: FeatureRows = rows / np.repeat(np.where(lengths > 0, lengths, 1), widths, axis=1)
    return found


def centres(
    rows: FeatureRows, k: int, seed: int, widths: Sequence[int], weights: FeatureRows | None = None
) -> tuple[FeatureRows, FeatureRows]:
    """(k or fewer centres, the weight behind each) by k-means with a seeded start; empty for no rows.

    Lloyd's steps on a few hundred rows: scikit-learn's take a hundred times as long to set up, for every client.
    """
    shares = np.ones(len(rows), dtype=np.float32) if weights is None else weights
    known = np.repeat(np.stack([part.any(1) for part in apart(rows, widths)], 1), widths, axis=1) * shares[:, None]
    rng = np.random.default_rng(stream_seed(seed, "centres", len(rows)))
    centre = _spread(rows, min(k, len(rows)), shares, rng)
    for _ in range(ROUNDS):
        nearest = _nearest(rows, centre)
        moved = centre.copy()
        for j in np.unique(nearest):
            mine = nearest == j
            moved[j] = (known[mine] * rows[mine]).sum(0) / np.maximum(known[mine].sum(0), TINY)
        if np.array_equal(moved, centre):
            break
        centre = moved
    behind = np.bincount(_nearest(rows, centre), shares, minlength=len(centre)).astype(np.float32)
    return centre, behind


def _spread(rows: FeatureRows, k: int, shares: FeatureRows, rng: np.random.Generator) -> FeatureRows:
    """k-means++: each next centre with a chance that grows with its squared distance from those there are."""
    chosen: list[int] = []
    for _ in range(k):
        if chosen:
            distance = ((rows[:, None] - rows[None, chosen]) ** 2).sum(2).min(1) * shares
        else:
            distance = shares.astype(np.float64)
        total = distance.sum()
        if total <= 0:
            break
        chosen.append(int(rng.choice(len(rows), p=distance / total)))
    return rows[chosen].copy()


def _nearest(rows: FeatureRows, centre: FeatureRows) -> NDArray[np.int64]:
    if len(centre) == 0:
        return np.zeros(0, dtype=np.int64)
    distance = (centre**2).sum(1)[None] - 2 * product(rows, centre.T)
    return np.asarray(distance.argmin(1), dtype=np.int64)
