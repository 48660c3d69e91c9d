"""The judge of a stream: every slice of time is scored before anybody trains on it.

    after the last round on slice s:   rank the first items that each user meets in slice s + 1, by the state so far

Markov, ItemPop and chance, by what was met before the slice, stand beside. Of a user: `hit@10/full`, its share of hits
there, and `surprise/next`, its mean loss over items not met before. Where items have features, `drift` is 1 for users
whose interest changed in slice s + 1, by how far its items lie from their earlier ones (`interest/away`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.config.schema import Config
from equipoise.core.values import Floats, Indices, Mask, Question, State
from equipoise.data.held_out import Histories
from equipoise.data.interactions import Features
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.drift import DriftWatch
from equipoise.evaluate.groups import drifted, grouped
from equipoise.evaluate.interest import away
from equipoise.evaluate.judge import Own
from equipoise.evaluate.recommender import ItemScorer, Shown
from equipoise.evaluate.score import NO_ANSWERS, Answers, Scores
from equipoise.evaluate.targets import Target, beside, by_counting, metrics
from equipoise.server.predict import Merged

EACH = 5
"""Items of a slice that are ranked for a user: its first ones."""


def slice_of(step: int, rounds: int, slices: int) -> int:
    """The slice that a round trains on: rounds are spread evenly over all slices but the last."""
    return step * (slices - 1) // rounds


@dataclass(frozen=True)
class SliceJudge:
    item_scorer: ItemScorer
    histories: Histories
    config: Config
    content: str
    headline: str = "hr@10/full"
    choice: str | None = None
    features: Mapping[str, Features] = field(default_factory=dict)

    @property
    def tested(self) -> int:
        """Items that are ranked in the last slice."""
        return len(self.shown(self._n_slices - 1).users)

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        return []

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        rounds, slices = self.config.steps, self._n_slices
        here = slice_of(step, rounds, slices)
        if slice_of(step + 1, rounds, slices) == here:
            return {}, {}
        target = self.target(here + 1)
        scores = self.item_scorer.shown(merged, own, target.shown)
        ranks = target.ranks(scores)
        found = {**self._metrics(ranks, target.shown), **self._users(ranks, scores, target)}
        counting = by_counting(self.histories.interactions, self._slices[:, here + 1], target)
        found |= {(None, name): value for name, value in beside(counting, target).items()}
        return {**found, **self._interest(here + 1)}, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}

    def target(self, number: int) -> Target:
        shown, data = self.shown(number), self.histories.interactions
        drawn = None if self._drawn is None else self._drawn[shown.users]
        items = data.items[data.bounds[shown.users] + shown.at]
        return Target(shown, items, self._met(shown, data.n_items), drawn)

    def shown(self, number: int) -> Shown:
        """The first items of a slice, user by user; an item that nothing precedes is nobody's to predict."""
        first, last = self._slices[:, number], self._slices[:, number + 1]
        at = [np.arange(max(1, a), min(b, a + EACH)) for a, b in zip(first, last, strict=True)]
        users: Indices = np.repeat(np.arange(len(at)), [len(part) for part in at])
        return Shown(users, np.concatenate(at))

    def _interest(self, number: int) -> Scores:
        if not self.features:
            return {}
        values, seen, alarms = self._watched
        who = np.flatnonzero(seen[:, number]).tolist()
        found: Scores = {(user, "interest/away"): float(values[user, number]) for user in who}
        found |= {(user, "drift"): float(alarms[user, number]) for user in who}
        if who:
            found[None, "interest/away"] = float(values[who, number].mean())
        return {**found, (None, "drift/users"): float(alarms[:, number].sum())}

    @cached_property
    def _watched(self) -> tuple[Floats, Mask, Mask]:
        """Of all users and slices; an alarm is judged by earlier slices alone."""
        values, seen = away(self.features, self.histories.interactions, self._slices)
        return values, seen, DriftWatch().flags(values, seen)

    @cached_property
    def _moved(self) -> Mask | None:
        return drifted(self.histories.interactions, self.features, self.histories.interactions.lengths)

    def _met(self, shown: Shown, n_items: int) -> Mask:
        """[N, V] what each user had met before."""
        met = np.zeros((len(shown.users), n_items), dtype=np.bool_)
        for row, (user, at) in enumerate(zip(shown.users, shown.at, strict=True)):
            met[row, self.histories.interactions.history(user)[:at]] = True
        return met

    def _metrics(self, ranks: ranking.Ranks, shown: Shown) -> Scores:
        moved = self._moved
        groups = {} if moved is None else {"drifted": moved[shown.users], "steady": ~moved[shown.users]}
        found = metrics(ranks)
        for protocol, each in ranks.items():
            found |= grouped(each, protocol, groups)
        return {(None, name): value for name, value in found.items()}

    def _users(self, ranks: ranking.Ranks, scores: torch.Tensor, target: Target) -> Scores:
        """What each user met: how often it was hit, and how surprising it was. A target counts even if met before."""
        gone, found = target.excluded.copy(), Scores()
        gone[np.arange(len(target.items)), target.items] = False
        unmet = scores.masked_fill(torch.from_numpy(gone), -torch.inf)
        losses = F.cross_entropy(unmet, torch.from_numpy(target.items), reduction="none").numpy()
        hits = ranks["full"] <= 10
        for user in np.unique(target.shown.users).tolist():
            its = target.shown.users == user
            found[user, "surprise/next"] = float(losses[its].mean())
            found[user, "hit@10/full"] = float(hits[its].mean())
        return found

    @property
    def _slices(self) -> Indices:
        assert self.histories.slices is not None
        return self.histories.slices

    @property
    def _n_slices(self) -> int:
        return int(self._slices.shape[1]) - 1

    @cached_property
    def _drawn(self) -> Indices | None:
        return candidates(self.histories.interactions, self.config.seed)
