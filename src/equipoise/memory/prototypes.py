"""What clients tell of their memories, and what the server makes of it: a few centres, never an item.

    client   k-means (k = 5) on the features of its memory rows
    server   all clients' centres and what it knew before, weighted by the rows behind them, clustered anew

Centres have no order, so they are never averaged row by row. Source: ours, after the fifth original report.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.core.streams import stream_seed
from equipoise.memory.product import Rows, product

ROUNDS = 20


def centres(rows: Rows, k: int, seed: int, weights: Rows | None = None) -> tuple[Rows, Rows]:
    """(k or fewer centres, the weight behind each) by k-means with a seeded start; empty for no rows.

    Lloyd's steps on a few hundred rows: scikit-learn's take a hundred times as long to set up, for every client.
    """
    shares = np.ones(len(rows), dtype=np.float32) if weights is None else weights
    rng = np.random.default_rng(stream_seed(seed, "centres", len(rows)))
    centre = _spread(rows, min(k, len(rows)), shares, rng)
    for _ in range(ROUNDS):
        nearest = _nearest(rows, centre)
        moved = centre.copy()
        for j in np.unique(nearest):
            mine = nearest == j
            moved[j] = np.average(rows[mine], axis=0, weights=shares[mine])
        if np.array_equal(moved, centre):
            break
        centre = moved
    behind = np.bincount(_nearest(rows, centre), shares, minlength=len(centre)).astype(np.float32)
    return centre, behind


def _spread(rows: Rows, k: int, shares: Rows, rng: np.random.Generator) -> Rows:
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


def _nearest(rows: Rows, centre: Rows) -> NDArray[np.int64]:
    if len(centre) == 0:
        return np.zeros(0, dtype=np.int64)
    distance = (centre**2).sum(1)[None] - 2 * product(rows, centre.T)
    return np.asarray(distance.argmin(1), dtype=np.int64)
