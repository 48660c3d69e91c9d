"""The same metrics over groups of users, to show for whom a recommender works.

    long       history longer than the median                    short     the others
    head       target among the fifth of items met most often    tail      the others
    drifted    move_u in the top quarter                         steady    the others

    move_u = ‖c_1 − c_2‖² − v_1/n_1 − v_2/n_2        c, v, n: mean feature row, variance and size of each half

The halves are the earlier and the later part of a history; an odd item belongs to the later. Means of few items differ
by chance alone. The expected difference by chance is subtracted, or else short histories would count as drifted
(MovieLens-1M, text: rank correlation of move and length −.91 without the correction, .11 with it). Source: ours; the
corrected distance is the unbiased estimate of a squared difference of means.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from equipoise.core.values import Floats, Indices, Mask
from equipoise.data.interactions import Features, Interactions
from equipoise.evaluate.markov import sparse
from equipoise.evaluate.popularity import spanned
from equipoise.evaluate.rank_metrics import Protocol
from equipoise.evaluate.ranking import metrics

HEAD = 5
"""One item in this many is popular."""
DRIFTED = 0.75
"""Users above this quantile of moves count as drifted."""


def groups(lengths: Indices, targets: Indices, counts: Indices, moved: Mask | None = None) -> dict[str, Mask]:
    """Masks over users; `counts` [V] are those of training. Without `moved` there is no drifted and steady."""
    is_long = lengths > np.median(lengths)
    is_head = popular(counts)[targets]
    pairs = {"long": is_long, "short": ~is_long, "head": is_head, "tail": ~is_head}
    return pairs if moved is None else {**pairs, "drifted": moved, "steady": ~moved}


def grouped(ranks: Floats, protocol: Protocol, masks: Mapping[str, Mask]) -> dict[str, float]:
    """Metrics of each group that is not empty, named like `hr@10/full/long`."""
    return {
        f"{name}/{group}": value
        for group, mask in masks.items()
        if mask.any()
        for name, value in metrics(ranks[mask], protocol).items()
    }


def popular(counts: Indices) -> Mask:
    """The fifth of all items with the highest counts, rounded up; ties go to the lower item number."""
    is_head = np.zeros(len(counts), dtype=np.bool_)
    is_head[np.argsort(-counts, kind="stable")[: -(-len(counts) // HEAD)]] = True
    return is_head


def drifted(data: Interactions, features: Mapping[str, Features], ends: Indices) -> Mask | None:
    """Users whose interest changed: as the generator recorded it, else by the first features; None without either."""
    if len(data.changes):
        return data.changes >= 0
    return drifted_users(interest_moves(next(iter(features.values())), data, ends)) if features else None


def drifted_users(moves: Floats) -> Mask:
    return moves > np.quantile(moves, DRIFTED)


def interest_moves(features: Features, data: Interactions, ends: Indices) -> Floats:
    """move_u of the first ends[u] items; 0 where a half has fewer than two items with features."""
    users, at = spanned(data.bounds[:-1], ends)
    is_later = at >= (data.bounds[:-1] + ends // 2)[users]
    items, shape = data.items[at], (2 * data.n_users, data.n_items)
    halves = sparse(features.present[items].astype(np.float64), (2 * users + is_later, items), shape)
    n, rows = halves @ np.ones(data.n_items), features.rows.astype(np.float64)
    centroids = halves @ rows / np.maximum(n, 1)[:, None]
    spread = halves @ np.square(rows).sum(1) - n * np.square(centroids).sum(1)
    noise = (spread / np.maximum(n * (n - 1), 1)).reshape(-1, 2).sum(1)
    moves = np.square(centroids[::2] - centroids[1::2]).sum(1) - noise
    return np.where(n.reshape(-1, 2).min(1) >= 2, moves, 0.0)
