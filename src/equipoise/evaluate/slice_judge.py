"""Scores a stream: each slice of time is ranked before any client trains on it.

    after the last round on slice s:   rank the first items that each user meets in slice s + 1, by the current state

Markov, ItemPop and chance are scored beside the model; they count only what was met before the slice. Each user gets
`hit@10/full`, its share of hits in the slice, and `surprise/next`, its mean loss over items not met before. Where items
have features, `interest/away` measures how far the slice's items lie from the user's earlier ones, and `drift` is 1 for
users whose interest changed.
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
from equipoise.data.slices import first_positions, slice_of
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.drift import DriftWatch
from equipoise.evaluate.groups import drifted, grouped
from equipoise.evaluate.interest import away
from equipoise.evaluate.judge import Own
from equipoise.evaluate.recommender import ItemScorer, UserPositions
from equipoise.evaluate.score import NO_ANSWERS, Answers, Scores
from equipoise.evaluate.targets import Target, beside, by_counting, metrics
from equipoise.server.predict import Merged

EACH = 5
"""Number of items of a slice that are ranked for each user: its first ones."""


@dataclass(frozen=True)
class SliceJudge:
    """Judges a run on a stream; there is no separate test at the end."""

    item_scorer: ItemScorer
    histories: Histories
    config: Config
    content: str
    headline: str = "hr@10/full"
    choice: str | None = None
    features: Mapping[str, Features] = field(default_factory=dict)

    @property
    def tested(self) -> int:
        """Number of items that are ranked in the last slice."""
        return len(self.positions(self._n_slices - 1).users)

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
        scores = self.item_scorer.user_scores(merged, own, target.positions)
        ranks = target.ranks(scores)
        found = {**self._metrics(ranks, target.positions), **self._users(ranks, scores, target)}
        counting = by_counting(self.histories.interactions, self._slices[:, here + 1], target)
        found |= {(None, name): value for name, value in beside(counting, target).items()}
        return {**found, **self._interest(here + 1)}, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}

    def target(self, number: int) -> Target:
        """The targets in a slice."""
        positions, data = self.positions(number), self.histories.interactions
        drawn = None if self._drawn is None else self._drawn[positions.users]
        items = data.items[data.bounds[positions.users] + positions.at]
        return Target(positions, items, self._met(positions, data.n_items), drawn)

    def positions(self, number: int) -> UserPositions:
        """The first items of a slice, user by user."""
        return UserPositions(*first_positions(self._slices, number, EACH))

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
        """`interest/away`, where it exists, and alarms [U, S]; an alarm depends on earlier slices only."""
        values, seen = away(self.features, self.histories.interactions, self._slices)
        return values, seen, DriftWatch().flags(values, seen)

    @cached_property
    def _moved(self) -> Mask | None:
        return drifted(self.histories.interactions, self.features, self.histories.interactions.lengths)

    def _met(self, positions: UserPositions, n_items: int) -> Mask:
        """[N, V]: the items that each user met before each position."""
        met = np.zeros((len(positions.users), n_items), dtype=np.bool_)
        for row, (user, at) in enumerate(zip(positions.users, positions.at, strict=True)):
            met[row, self.histories.interactions.history(user)[:at]] = True
        return met

    def _metrics(self, ranks: ranking.Ranks, positions: UserPositions) -> Scores:
        moved = self._moved
        groups = {} if moved is None else {"drifted": moved[positions.users], "steady": ~moved[positions.users]}
        found = metrics(ranks)
        for protocol, each in ranks.items():
            found |= grouped(each, protocol, groups)
        return {(None, name): value for name, value in found.items()}

    def _users(self, ranks: ranking.Ranks, scores: torch.Tensor, target: Target) -> Scores:
        """Share of hits and mean loss of each user. A target counts even if the user met it before."""
        gone, found = target.excluded.copy(), Scores()
        gone[np.arange(len(target.items)), target.items] = False
        unmet = scores.masked_fill(torch.from_numpy(gone), -torch.inf)
        losses = F.cross_entropy(unmet, torch.from_numpy(target.items), reduction="none").numpy()
        hits = ranks["full"] <= 10
        for user in np.unique(target.positions.users).tolist():
            its = target.positions.users == user
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
