"""The items to predict, and how well reference scorers without learning rank them.

    itempop, markov     counts of what all users met before (evaluate/popularity.py, evaluate/markov.py)
    chance              the mean over all orders (evaluate/ranking.py)

Reference scorers rank the same items for the same users under the same protocols as the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from equipoise.core.values import Indices, Mask
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Interactions
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.markov import count_transitions, score_next
from equipoise.evaluate.popularity import count_items, score_items
from equipoise.evaluate.recommender import UserPositions


@dataclass(frozen=True)
class Target:
    """Positions to predict, the true items [N], items that are not ranked [N, V], and drawn candidates [N, 100]."""

    positions: UserPositions
    items: Indices
    excluded: Mask
    drawn: Indices | None

    def ranks(self, scores: Tensor) -> ranking.Ranks:
        """Ranks by scores [N, V] under each protocol."""
        return ranking.by_protocol(scores, self.items, self.excluded, self.drawn)


def held_out(histories: Histories, split: Literal["validation", "test"], seed: int) -> Target:
    """The held-out item of every user that has one."""
    at = histories.validation_at if split == "validation" else histories.test_at
    data, users = histories.interactions, np.flatnonzero(at >= 0)
    excluded = ranking.met(data.items, data.bounds, at, data.n_items)[users]
    items = data.items[data.bounds[:-1] + at][users]
    drawn = candidates(data, seed)
    return Target(UserPositions(users, at[users]), items, excluded, None if drawn is None else drawn[users])


def by_counting(data: Interactions, ends: Indices, target: Target) -> dict[str, ranking.Ranks]:
    """Ranks by popularity and by a Markov table, both counted over the first ends[u] items of each history."""
    counts = count_items(data.items, data.bounds, ends, data.n_items)
    pairs = count_transitions(data.items, data.bounds, ends, data.n_items)
    positions = target.positions
    return {
        "itempop": target.ranks(score_items(counts, len(target.items))),
        "markov": target.ranks(score_next(pairs, data.items, data.bounds[positions.users], positions.at)),
    }


def beside(counting: Mapping[str, ranking.Ranks], target: Target) -> dict[str, float]:
    """Metrics of the reference scorers, named like `hr@10/full/markov`."""
    found = {who: metrics(ranks) for who, ranks in counting.items()}
    found["chance"] = ranking.chances(target.items, target.excluded, target.drawn)
    return {f"{name}/{who}": value for who, part in found.items() for name, value in part.items()}


def metrics(ranks: ranking.Ranks) -> dict[str, float]:
    """Metrics under all protocols."""
    return {name: value for protocol, each in ranks.items() for name, value in ranking.metrics(each, protocol).items()}
