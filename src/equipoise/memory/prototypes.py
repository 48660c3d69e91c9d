"""Cluster centres of client memories, and their merge into a global memory. Single items are never sent.

    client   k-means (k = 5) on the features of its memory rows, each modality scaled to length 1
    server   clusters all clients' centres and its previous ones again, weighted by the rows behind each centre

Centres have no order, so they are never averaged row by row. The modalities of a row are concatenated, so that the
image and the text of a centre belong together. Where a modality is missing its part is 0, and it is left out of that
part's mean. Source: ours, after the fifth original report.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.core.streams import stream_seed
from equipoise.memory.product import FeatureRows, product

ROUNDS = 20
"""Largest number of Lloyd steps."""
TINY = np.finfo(np.float32).tiny


def apart(rows: FeatureRows, widths: Sequence[int]) -> list[FeatureRows]:
    """Split concatenated rows into their modalities."""
    return np.split(rows, np.cumsum(widths)[:-1], axis=1)


def each_of_length_one(rows: FeatureRows, widths: Sequence[int]) -> FeatureRows:
    """Scale every modality of each row to length 1; a missing modality stays 0."""
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in apart(rows, widths)], 1)
    found: FeatureRows = rows / np.repeat(np.where(lengths > 0, lengths, 1), widths, axis=1)
    return found


def centres(
    rows: FeatureRows, k: int, seed: int, widths: Sequence[int], weights: FeatureRows | None = None
) -> tuple[FeatureRows, FeatureRows]:
    """(at most k centres, the weight behind each) by k-means with a seeded start; empty without rows.

    Plain Lloyd steps, because there are only a few hundred rows: setting up scikit-learn's k-means takes a hundred
    times as long, for every client.
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
    weight = np.bincount(_nearest(rows, centre), shares, minlength=len(centre)).astype(np.float32)
    return centre, weight


def _spread(rows: FeatureRows, k: int, shares: FeatureRows, rng: np.random.Generator) -> FeatureRows:
    """k-means++: each next centre is drawn in proportion to its squared distance from the nearest one so far."""
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
