"""Scores recommenders: ranks each user's held-out item in the whole catalogue and among 100 fixed other items.

hr@10/full             validation at each scored checkpoint; test once at the end, for the state that validation chose
…/chance, …/itempop, …/markov    the same metric for a random order, for popularity and for a Markov table
…/low, …/high          95 % interval of the headline over users
…/long, …/tail …       the same metric for groups of users
…/over_markov          mean gain over the Markov table, user by user, with an interval of its own
blend/…                weight of the second of two scorers that rank together, chosen on validation
rank/full, …/markov    rank of each user's test item, so that two runs can be compared user by user
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from equipoise.config.schema import Config
from equipoise.core.errors import ClientError
from equipoise.core.values import Mask, Question, State, n_bytes
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Features
from equipoise.evaluate import ranking
from equipoise.evaluate.blend import Blend, Scorer
from equipoise.evaluate.groups import drifted, grouped, groups
from equipoise.evaluate.intervals import bootstrap, paired
from equipoise.evaluate.judge import Own
from equipoise.evaluate.popularity import count_items
from equipoise.evaluate.rank_metrics import per_user
from equipoise.evaluate.recommender import ItemScorer
from equipoise.evaluate.score import NO_ANSWERS, Answers, Scores
from equipoise.evaluate.table_scorer import table_scorer
from equipoise.evaluate.targets import Target, beside, by_counting, held_out, metrics
from equipoise.server.item_settings import ITEM_SUMS, ItemSumsOptions
from equipoise.server.item_sums import add
from equipoise.server.item_tables import solved
from equipoise.server.predict import Merged

HEADLINE = "hr@10/full"
CHOICE = "ndcg@10/full/validation"


@dataclass(frozen=True)
class RankJudge:
    """Judges a run with one validation and one test target per user."""

    item_scorer: Scorer
    histories: Histories
    features: Mapping[str, Features]
    config: Config
    content: str
    headline: str = HEADLINE
    choice: str | None = CHOICE
    known: dict[str, Target] = field(default_factory=dict)
    tables: dict[str, Tensor] = field(default_factory=dict)
    """Solved from users' sums, where `server.sums` adds their scores to the model's on test."""

    @property
    def tested(self) -> int:
        return int((self.histories.test_at >= 0).sum())

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        """Users are asked for their sums once, when the run may end."""
        return [ITEM_SUMS] if is_last and self.config.server.sums is not None and not self.tables else []

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        asked = self._take_sums(answers[ITEM_SUMS]) if ITEM_SUMS in answers else {}
        if not is_last and (step + 1) % self.config.evaluate.every != 0:
            return asked, {}
        target = self.target("validation")
        found = metrics(target.ranks(self.item_scorer.user_scores(merged, own, target.positions)))
        return asked | {(None, f"{name}/validation"): value for name, value in found.items()}, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        """Test metrics with intervals, groups of users and reference scorers."""
        target, scorer = self.target("test"), self._final_scorer()
        ranks = target.ranks(scorer.user_scores(merged, own, target.positions))
        counting = by_counting(self.histories.interactions, self.histories.train_end, target)
        found = metrics(ranks) | beside(counting, target) | self._intervals(ranks, counting["markov"])
        who = self._groups(target)
        for protocol, each in ranks.items():
            found |= grouped(each, protocol, who)
        found |= self._memory_effect(merged, own, target)
        found |= scorer.numbers(merged, own) if isinstance(scorer, Blend) else {}
        ranked = {f"rank/{protocol}": each for protocol, each in ranks.items()}
        ranked |= {f"rank/{protocol}/markov": each for protocol, each in counting["markov"].items()}
        users = target.positions.users.tolist()
        each_user = {
            (u, name): rank for name, each in ranked.items() for u, rank in zip(users, each.tolist(), strict=True)
        }
        return {**{(None, name): value for name, value in found.items()}, **each_user}

    def target(self, split: Literal["validation", "test"]) -> Target:
        """The targets of validation or test, computed once."""
        if split not in self.known:
            self.known[split] = held_out(self.histories, split, self.config.seed)
        return self.known[split]

    def _final_scorer(self) -> Scorer:
        if not self.tables:
            return self.item_scorer
        beside = table_scorer(self._sums, self.histories.interactions, self._validation, self.tables)
        return Blend("sums", self.item_scorer, beside, self._validation)

    def _take_sums(self, answers: Mapping[int, State]) -> Scores:
        """Solve the tables from users' sums; what sending them takes."""
        total: dict[str, Tensor] = {}
        for client, report in answers.items():
            if reason := add(total, report):
                what, fix = f"the sums of client {client} cannot be added: {reason}", "run every node on the same data"
                raise ClientError(what, where="server.sums", fix=fix)
        self.tables.update(solved(total, self._sums))
        return {(None, "bytes/asked"): 0.0, (None, "bytes/told"): float(sum(map(n_bytes, answers.values())))}

    @property
    def _sums(self) -> ItemSumsOptions:
        return ItemSumsOptions(score=self.config.server.sums or "blend")

    def _validation(self) -> Target:
        return self.target("validation")

    def _memory_effect(self, merged: Merged, own: Own, target: Target) -> dict[str, float]:
        scorer = self.item_scorer
        if not isinstance(scorer, ItemScorer) or scorer.work.memory is None or not scorer.is_merged:
            return {}
        effect = scorer.memory_effect(merged.model, merged.broadcast, own, target.positions, target.items)
        return {"memory/effect": effect.effect, "memory/p_positive/test": effect.holds_target}

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
