"""Two scorers as one: the sum of their standardised scores, with the weight that ranks validation best.

    z_u   = (s_u − mean_v s_uv) / std_v s_uv            a user whose scores are all equal gets zeros
    score = (1 − w)·z(first) + w·z(second)              w ∈ {0, 0.1 … 1}, highest ndcg@10/full on validation; of equal
                                                        ones the one nearest to ½, then the lower
Test items take no part in the choice. The weight is a function of the state that is scored, so a resumed run finds the
same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from torch import Tensor

from equipoise.core.values import ClientState, State
from equipoise.evaluate.ranking import metrics, mid_ranks
from equipoise.evaluate.recommender import UserPositions
from equipoise.evaluate.targets import Target
from equipoise.server.predict import Merged

WEIGHTS = tuple(tenth / 10 for tenth in range(11))
Own = Mapping[int, ClientState]


class Choice(NamedTuple):
    """A weight, and ndcg@10/full on validation with it."""

    weight: float
    quality: float


class Scorer(Protocol):
    def user_scores(self, merged: Merged, own: Own, positions: UserPositions) -> Tensor:
        """Scores [N, V] of all items at each position."""


@dataclass(frozen=True)
class Blend:
    """A scorer; `name` says whose weight w is, in the metrics `blend/<name>` and `blend/<name>/validation`."""

    name: str
    first: Scorer
    second: Scorer
    validation: Callable[[], Target]
    chosen: list[tuple[State, Choice]] = field(default_factory=list)
    """The state that was scored last, and what was chosen for it."""

    def user_scores(self, merged: Merged, own: Own, positions: UserPositions) -> Tensor:
        first, second = (standardised(each.user_scores(merged, own, positions)) for each in (self.first, self.second))
        return mixed(first, second, self.choice(merged, own).weight)

    def choice(self, merged: Merged, own: Own) -> Choice:
        """w for that state."""
        if not self.chosen or self.chosen[0][0] is not merged.model:
            target = self.validation()
            sides = [each.user_scores(merged, own, target.positions) for each in (self.first, self.second)]
            self.chosen[:] = [(merged.model, chosen_weight(standardised(sides[0]), standardised(sides[1]), target))]
        return self.chosen[0][1]

    def numbers(self, merged: Merged, own: Own) -> dict[str, float]:
        """The weights of this blend and of those inside it."""
        choice = self.choice(merged, own)
        found = {f"blend/{self.name}": choice.weight, f"blend/{self.name}/validation": choice.quality}
        for each in (self.first, self.second):
            found |= each.numbers(merged, own) if isinstance(each, Blend) else {}
        return found


def standardised(scores: Tensor) -> Tensor:
    """z, user by user."""
    away = scores - scores.mean(1, keepdim=True)
    deviation = away.square().mean(1, keepdim=True).sqrt()
    return away / deviation.where(deviation > 0, 1.0)


def mixed(first: Tensor, second: Tensor, weight: float) -> Tensor:
    return (1 - weight) * first + weight * second


def chosen_weight(first: Tensor, second: Tensor, target: Target) -> Choice:
    """The best weight on these targets, of standardised scores."""

    def quality(weight: float) -> float:
        ranks = mid_ranks(mixed(first, second, weight), target.items, target.excluded)
        return metrics(ranks, "full")["ndcg@10/full"]

    choices = [Choice(weight, quality(weight)) for weight in WEIGHTS]
    return max(choices, key=lambda choice: (choice.quality, -abs(choice.weight - 0.5), -choice.weight))
