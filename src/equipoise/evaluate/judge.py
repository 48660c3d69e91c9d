"""Who says how good a federation is: one judge for labelled samples, one for recommendations.

questions before a checkpoint is scored: what is to be asked of the clients
observe   at a checkpoint: scores, and what is kept for pictures
final     once, at the end of the run, of the state that validation chose; nothing where every checkpoint is tested
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from equipoise.core.values import ClientState, Question, State
from equipoise.evaluate.geometry import prototype_scores
from equipoise.evaluate.personal import personal_scores
from equipoise.evaluate.pictures import pictures
from equipoise.evaluate.predictions import Evaluator, PredictionCache
from equipoise.evaluate.score import (
    NO_ANSWERS,
    Answers,
    Scores,
    beside,
    chosen_clients,
    predictors,
    questions_of,
    score,
)
from equipoise.models.outputs import input_statistics
from equipoise.server.local_accuracy import OF_MERGED, OF_OWN
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

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        """What has to be asked of the clients before that checkpoint can be scored."""

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        """Scores of a checkpoint, and what pictures need; more is scored at the last one, which may come early."""

    def final(self, merged: Merged, own: Own) -> Scores: ...


@dataclass(frozen=True)
class SampleJudge:
    evaluator: Evaluator
    predict: str | None
    headline: str

    @property
    def choice(self) -> str | None:
        """Every checkpoint is tested, so nothing has to be chosen, unless validation may end the run."""
        return None if self.evaluator.config.evaluate.patience is None else "accuracy/validation"

    @property
    def content(self) -> str:
        return self.evaluator.splits.content

    @property
    def tested(self) -> int:
        return len(self.evaluator.splits.test)

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        if not self._is_scored(step, is_last):
            return []
        is_merged = self.predict is not None
        personal = [OF_OWN, *([OF_MERGED] if is_merged else [])] if self.evaluator.has_local_tests else []
        others = predictors(merged, [self.predict]) if self._shows_beside(merged, is_last) else []
        names = [entry.name for entry in others]
        return [*personal, *questions_of([self.predict, *names] if self.predict is not None else [])]

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        config, scores = self.evaluator.config, prototype_scores(merged)
        if not self._is_scored(step, is_last):
            return scores, {}
        predictions = PredictionCache(self.evaluator, [client.client for client in merged.clients])
        first = next(self.evaluator.reader.batches(self.evaluator.splits.test.inputs))
        scores |= {(None, name): value for name, value in input_statistics(first, "eval").items()}
        at_most = len(merged.clients) if self.predict is None else config.evaluate.clients
        clients = chosen_clients(merged.clients, at_most, config.seed, step)
        scores |= score(predictions, self.predict, merged, clients, answers)
        scores |= personal_scores(answers)
        if self._shows_beside(merged, is_last):
            scores |= beside(predictions, merged, answers)
        return scores, pictures(predictions, merged, clients) if is_last else {}

    def _is_scored(self, step: int, is_last: bool) -> bool:
        return is_last or (step + 1) % self.evaluator.config.evaluate.every == 0

    def _shows_beside(self, merged: Merged, is_last: bool) -> bool:
        """Whether every other way to predict is scored too."""
        config = self.evaluator.config
        is_small = len(merged.clients) <= config.evaluate.clients
        return self.predict is not None and is_small and config.shows_beside(is_last)

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}
