"""The judge of recommenders: every user's held-out item, ranked in the whole catalogue and among 100 fixed others.

hr@10/full         validation at each scored checkpoint, test once, at the end, of the state that validation chose
…/chance, …/itempop, …/markov    what the same users give a scorer that knows nothing, counts, or pairs
…/low, …/high      95 % interval of the headline over users        …/long, …/tail …    groups of users
rank/full          where each user's test item stood: two runs are compared user by user
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from equipoise.config.schema import Config
from equipoise.core.values import Indices, State
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Features
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.groups import drifted, grouped, groups
from equipoise.evaluate.intervals import bootstrap
from equipoise.evaluate.judge import Own
from equipoise.evaluate.recommender import Shop, Shown
from equipoise.evaluate.score import Scores
from equipoise.server.markov import count_transitions, score_next
from equipoise.server.popularity import count_items, score_items
from equipoise.server.predict import Merged

HEADLINE = "hr@10/full"
CHOICE = "ndcg@10/full/validation"


@dataclass(frozen=True)
class Target:
    """The held-out items of a split: who is shown something where, what is right, and what may not be ranked."""

    shown: Shown
    items: Indices
    excluded: ranking.Mask
    drawn: Indices | None


@dataclass(frozen=True)
class RankJudge:
    shop: Shop
    histories: Histories
    features: Mapping[str, Features]
    config: Config
    content: str
    headline: str = HEADLINE
    choice: str | None = CHOICE
    known: dict[str, Target] = field(default_factory=dict)

    @property
    def tested(self) -> int:
        return int((self.histories.test_at >= 0).sum())

    def observe(self, merged: Merged, own: Own, step: int) -> tuple[Scores, State]:
        is_last = step + 1 == self.config.steps
        if not is_last and (step + 1) % self.config.evaluate.every != 0:
            return {}, {}
        found, _ = self._ranked(merged, own, "validation")
        return {(None, f"{name}/validation"): value for name, value in found.items()}, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        """Test, with intervals, groups and references."""
        target = self.target("test")
        found, ranks = self._ranked(merged, own, "test")
        found |= self._beside(target)
        if self.shop.work.memory is not None and self.shop.is_merged:
            recalled = self.shop.recalled(merged.model, merged.gift, own, target.shown, target.items)
            found |= {"memory/effect": recalled.effect, "memory/p_positive/test": recalled.holds_target}
        for protocol, each in ranks.items():
            found |= grouped(each, protocol, self._groups(target))
            for name, values in ranking.per_user(each, protocol).items():
                if name.startswith(("hr@10", "ndcg@10")):
                    interval = bootstrap(values, self.config.seed)
                    found |= {f"{name}/low": interval.low, f"{name}/high": interval.high}
        users = target.shown.users.tolist()
        each_user: Scores = {
            (user, f"rank/{protocol}"): rank
            for protocol, each in ranks.items()
            for user, rank in zip(users, each.tolist(), strict=True)
        }
        return {**{(None, name): value for name, value in found.items()}, **each_user}

    def target(self, split: str) -> Target:
        if split not in self.known:
            at = self.histories.validation_at if split == "validation" else self.histories.test_at
            data, users = self.histories.interactions, np.flatnonzero(at >= 0)
            excluded = ranking.met(data.items, data.bounds, at, data.n_items)[users]
            items = data.items[data.bounds[:-1] + at][users]
            drawn = candidates(data, self.config.seed)
            of_users = None if drawn is None else drawn[users]
            self.known[split] = Target(Shown(users, at[users]), items, excluded, of_users)
        return self.known[split]

    def _ranked(self, merged: Merged, own: Own, split: str) -> tuple[dict[str, float], ranking.Ranks]:
        target = self.target(split)
        return self._metrics(self.shop.shown(merged, own, target.shown), target)

    def _metrics(self, scores: Tensor, target: Target) -> tuple[dict[str, float], ranking.Ranks]:
        ranks = ranking.by_protocol(scores, target.items, target.excluded, target.drawn)
        found = {
            name: value for protocol, each in ranks.items() for name, value in ranking.metrics(each, protocol).items()
        }
        return found, ranks

    def _beside(self, target: Target) -> dict[str, float]:
        """Chance, ItemPop and Markov on the same users; both tables from what clients train on."""
        data, end = self.histories.interactions, self.histories.train_end
        counts = count_items(data.items, data.bounds, end, data.n_items)
        pairs = count_transitions(data.items, data.bounds, end, data.n_items)
        at = np.full(data.n_users, -1)
        at[target.shown.users] = target.shown.at
        markov = score_next(pairs, data.items, data.bounds, at)[target.shown.users]
        found = {
            "itempop": self._metrics(score_items(counts, len(target.items)), target)[0],
            "markov": self._metrics(markov, target)[0],
            "chance": ranking.chances(target.items, target.excluded, target.drawn),
        }
        return {f"{name}/{who}": value for who, part in found.items() for name, value in part.items()}

    def _groups(self, target: Target) -> dict[str, ranking.Mask]:
        data, users = self.histories.interactions, target.shown.users
        counts = count_items(data.items, data.bounds, self.histories.train_end, data.n_items)
        moved = drifted(data, self.features, self.histories.train_end)
        return groups(target.shown.at, target.items, counts, None if moved is None else moved[users])
