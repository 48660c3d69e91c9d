"""The judge of a stream: every slice of time is scored before anybody trains on it.

    after the last round on slice s:   rank the first items that each user meets in slice s + 1, by the state so far

`surprise/next` of a user is its mean loss there, −log of the softmax at what it met: the series that drift is found in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.config.schema import Config
from equipoise.core.values import Indices, State
from equipoise.data.held_out import Histories
from equipoise.evaluate import ranking
from equipoise.evaluate.candidates import candidates
from equipoise.evaluate.groups import grouped
from equipoise.evaluate.judge import Own
from equipoise.evaluate.recommender import Shop, Shown
from equipoise.evaluate.score import Scores
from equipoise.server.predict import Merged

EACH = 5
"""Items of a slice that are ranked for a user: its first ones."""


def slice_of(step: int, rounds: int, slices: int) -> int:
    """The slice that a round trains on: rounds are spread evenly over all slices but the last."""
    return step * (slices - 1) // rounds


@dataclass(frozen=True)
class SliceJudge:
    shop: Shop
    histories: Histories
    config: Config
    content: str
    headline: str = "hr@10/full"
    choice: str | None = None

    def observe(self, merged: Merged, own: Own, step: int) -> tuple[Scores, State]:
        rounds, slices = self.config.steps, self.config.data.slices  # type: ignore[attr-defined]
        here = slice_of(step, rounds, slices)
        if slice_of(step + 1, rounds, slices) == here:
            return {}, {}
        shown = self.shown(here + 1)
        data = self.histories.interactions
        targets = data.items[data.bounds[shown.users] + shown.at]
        scores = torch.cat(list(self.shop.scores(merged.model, merged.gift, own, shown)))
        found = self._ranked(scores, targets, shown)
        losses = F.cross_entropy(scores, torch.from_numpy(targets), reduction="none").numpy()
        for user in np.unique(shown.users):
            found[int(user), "surprise/next"] = float(losses[shown.users == user].mean())
        return found, {}

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}

    def shown(self, number: int) -> Shown:
        """The first items of a slice, user by user; an item that nothing precedes is nobody's to predict."""
        assert self.histories.slices is not None
        first, last = self.histories.slices[:, number], self.histories.slices[:, number + 1]
        at = [np.arange(max(1, a), min(b, a + EACH)) for a, b in zip(first, last, strict=True)]
        users: Indices = np.repeat(np.arange(len(at)), [len(part) for part in at])
        return Shown(users, np.concatenate(at))

    def _ranked(self, scores: torch.Tensor, targets: Indices, shown: Shown) -> Scores:
        data = self.histories.interactions
        excluded = np.zeros(scores.shape, dtype=np.bool_)
        for row, (user, at) in enumerate(zip(shown.users, shown.at, strict=True)):
            excluded[row, data.history(user)[:at]] = True
        drawn = candidates(data, self.config.seed)[shown.users]
        ranks: dict[ranking.Protocol, ranking.Numbers] = {
            "full": ranking.mid_ranks(scores, targets, excluded),
            "uni100": ranking.uni100(scores, targets, drawn),
        }
        changed = (data.changes >= 0)[shown.users] if len(data.changes) else None
        groups = {} if changed is None else {"drifted": changed, "steady": ~changed}
        found: Scores = {}
        for protocol, each in ranks.items():
            found |= {(None, name): value for name, value in ranking.metrics(each, protocol).items()}
            found |= {(None, name): value for name, value in grouped(each, protocol, groups).items()}
        return found
