"""Scores recommenders: ranks each user's held-out item in the whole catalogue and among 100 fixed other items.

hr@10/full             validation at each scored checkpoint; test once at the end, for the state that validation chose
…/chance, …/itempop, …/markov    the same metric for a random order, for popularity and for a Markov table
…/low, …/high          95 % interval of the headline over users
…/long, …/tail …       the same metric for groups of users
…/over_markov          mean gain over the Markov table, user by user, with an interval of its own
rank/full, …/markov    rank of each user's test item, so that two runs can be compared user by user
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from equipoise.config.schema import Config
from equipoise.core.values import Mask, Question, State
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Features
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.groups import drifted, grouped, groups
from equipoise.evaluate.intervals import bootstrap, paired
from equipoise.evaluate.judge import Own
from equipoise.evaluate.popularity import count_items
from equipoise.evaluate.rank_metrics import per_user
from equipoise.evaluate.recommender import ItemScorer, UserPositions
from equipoise.evaluate.score import NO_ANSWERS, Answers, Scores
from equipoise.evaluate.targets import Target, beside, by_counting, metrics
from equipoise.server.predict import Merged

HEADLINE = "hr@10/full"
CHOICE = "ndcg@10/full/validation"


@dataclass(frozen=True)
class RankJudge:
    """Judges a run with one validation and one test target per user."""

    item_scorer: ItemScorer
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

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        return []

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        if not is_last and (step + 1) % self.config.evaluate.every != 0:
            return {}, {}
        found = metrics(self._ranks(merged, own, self.target("validation")))
        return {(None, f"{name}/validation"): value for name, value in found.items()}, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        """Test metrics with intervals, groups of users and reference scorers."""
        target = self.target("test")
        ranks = self._ranks(merged, own, target)
        counting = by_counting(self.histories.interactions, self.histories.train_end, target)
        found = metrics(ranks) | beside(counting, target) | self._intervals(ranks, counting["markov"])
        who = self._groups(target)
        for protocol, each in ranks.items():
            found |= grouped(each, protocol, who)
        if self.item_scorer.work.memory is not None and self.item_scorer.is_merged:
            memory = self.item_scorer.memory_effect(merged.model, merged.broadcast, own, target.positions, target.items)
            found |= {"memory/effect": memory.effect, "memory/p_positive/test": memory.holds_target}
        ranked = {f"rank/{protocol}": each for protocol, each in ranks.items()}
        ranked |= {f"rank/{protocol}/markov": each for protocol, each in counting["markov"].items()}
        users = target.positions.users.tolist()
        each_user = {
            (u, name): rank for name, each in ranked.items() for u, rank in zip(users, each.tolist(), strict=True)
        }
        return {**{(None, name): value for name, value in found.items()}, **each_user}

    def target(self, split: str) -> Target:
        """The targets of validation or test, computed once."""
        if split not in self.known:
            at = self.histories.validation_at if split == "validation" else self.histories.test_at
            data, users = self.histories.interactions, np.flatnonzero(at >= 0)
            excluded = ranking.met(data.items, data.bounds, at, data.n_items)[users]
            items = data.items[data.bounds[:-1] + at][users]
            drawn = candidates(data, self.config.seed)
            of_users = None if drawn is None else drawn[users]
            self.known[split] = Target(UserPositions(users, at[users]), items, excluded, of_users)
        return self.known[split]

    def _ranks(self, merged: Merged, own: Own, target: Target) -> ranking.Ranks:
        return target.ranks(self.item_scorer.user_scores(merged, own, target.positions))

    def _intervals(self, ranks: ranking.Ranks, markov: ranking.Ranks) -> dict[str, float]:
        """Intervals of hr@10 and ndcg@10 over users, and of each user's gain over the Markov table."""
        found: dict[str, float] = {}
        for protocol, each in ranks.items():
            theirs = per_user(markov[protocol], protocol)
            for name, values in per_user(each, protocol).items():
                if name.startswith(("hr@10", "ndcg@10")):
                    own, over = bootstrap(values, self.config.seed), paired(values, theirs[name], self.config.seed)
                    found |= {f"{name}/low": own.low, f"{name}/high": own.high, f"{name}/over_markov": over.mean}
                    found |= {f"{name}/over_markov/low": over.low, f"{name}/over_markov/high": over.high}
        return found

    def _groups(self, target: Target) -> dict[str, Mask]:
        data, users = self.histories.interactions, target.positions.users
        counts = count_items(data.items, data.bounds, self.histories.train_end, data.n_items)
        moved = drifted(data, self.features, self.histories.train_end)
        return groups(target.positions.at, target.items, counts, None if moved is None else moved[users])
