"""The items that are to be found, and what scorers that only count make of them.

    itempop, markov     tables of what everybody met before (evaluate/popularity.py, evaluate/markov.py)
    chance              the mean over all orders (evaluate/ranking.py)

They rank the same items for the same users under the same protocols as the model they stand beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from equipoise.core.values import Indices, Mask
from equipoise.data.interactions import Interactions
from equipoise.evaluate import ranking
from equipoise.evaluate.markov import count_transitions, score_next
from equipoise.evaluate.popularity import count_items, score_items
from equipoise.evaluate.recommender import Shown


@dataclass(frozen=True)
class Target:
    """Who is shown something where, what is right, what may not be ranked [N, V], and the hundred drawn [N, 100]."""

    shown: Shown
    items: Indices
    excluded: Mask
    drawn: Indices | None

    def ranks(self, scores: Tensor) -> ranking.Ranks:
        """By scores [N, V], under each protocol that there is."""
        return ranking.by_protocol(scores, self.items, self.excluded, self.drawn)


def by_counting(data: Interactions, ends: Indices, target: Target) -> dict[str, ranking.Ranks]:
    """Ranks by tables of the first ends[u] items of everybody's history."""
    counts = count_items(data.items, data.bounds, ends, data.n_items)
    pairs = count_transitions(data.items, data.bounds, ends, data.n_items)
    shown = target.shown
    return {
        "itempop": target.ranks(score_items(counts, len(target.items))),
        "markov": target.ranks(score_next(pairs, data.items, data.bounds[shown.users], shown.at)),
    }


def beside(counting: Mapping[str, ranking.Ranks], target: Target) -> dict[str, float]:
    """`hr@10/full/markov` and the like."""
    found = {who: metrics(ranks) for who, ranks in counting.items()}
    found["chance"] = ranking.chances(target.items, target.excluded, target.drawn)
    return {f"{name}/{who}": value for who, part in found.items() for name, value in part.items()}


def metrics(ranks: ranking.Ranks) -> dict[str, float]:
    """Under all protocols that there are."""
    return {name: value for protocol, each in ranks.items() for name, value in ranking.metrics(each, protocol).items()}
