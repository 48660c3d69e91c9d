"""Who says how good a federation is: one judge for images, one for recommendations.

observe   at a checkpoint: scores, and what is kept for pictures
final     once, at the end of the run, of the state that validation chose; nothing where every checkpoint is tested
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from equipoise.core.values import ClientState, State
from equipoise.evaluate.geometry import prototype_scores
from equipoise.evaluate.pictures import pictures
from equipoise.evaluate.predictions import PredictionCache, Scorer
from equipoise.evaluate.score import Scores, beside, chosen_clients, score
from equipoise.models.look import entering
from equipoise.server.predict import Merged

Own = Mapping[int, ClientState]


class Judge(Protocol):
    @property
    def headline(self) -> str:
        """The metric a table shows."""

    @property
    def choice(self) -> str | None:
        """The metric that chooses the best state; None: the last state is the result."""

    @property
    def content(self) -> str:
        """Hash of the data that it judges by."""

    @property
    def tested(self) -> int:
        """How many images or users test has."""

    def observe(self, merged: Merged, own: Own, step: int, is_last: bool) -> tuple[Scores, State]:
        """Scores of a checkpoint, and what pictures need; more is scored at the last one, which may come early."""

    def final(self, merged: Merged, own: Own) -> Scores: ...


@dataclass(frozen=True)
class ImageJudge:
    scorer: Scorer
    predict: str | None
    headline: str

    @property
    def choice(self) -> str | None:
        """Every checkpoint is tested, so nothing has to be chosen, unless validation may end the run."""
        return None if self.scorer.config.evaluate.patience is None else "accuracy/validation"

    @property
    def content(self) -> str:
        return self.scorer.splits.content

    @property
    def tested(self) -> int:
        return len(self.scorer.splits.test)

    def observe(self, merged: Merged, own: Own, step: int, is_last: bool) -> tuple[Scores, State]:
        config, scores = self.scorer.config, prototype_scores(merged)
        if not is_last and (step + 1) % config.evaluate.every != 0:
            return scores, {}
        predictions = PredictionCache(self.scorer, [client.client for client in merged.clients])
        first = next(self.scorer.lens.batches(self.scorer.splits.test.pixels))
        scores |= {(None, name): value for name, value in entering(first, "eval").items()}
        at_most = len(merged.clients) if self.predict is None else config.evaluate.clients
        clients = chosen_clients(merged.clients, at_most, config.seed, step)
        scores |= score(predictions, self.predict, merged, clients)
        if self.predict and len(merged.clients) <= config.evaluate.clients and config.shows_beside(is_last):
            scores |= beside(predictions, merged)
        return scores, pictures(predictions, merged, clients) if is_last else {}

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}
