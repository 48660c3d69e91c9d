"""Judges score a federation at a checkpoint: the protocol, and the judge for labelled samples.

questions before a checkpoint is scored: the questions to ask the clients
observe   at a checkpoint: scores, and the tensors that pictures need
final     once, at the end of the run: scores of the state that validation chose; empty if every checkpoint is tested
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
        """The metric that tables show."""

    @property
    def choice(self) -> str | None:
        """The metric by which the best state is chosen; None: the last state is the result."""

    @property
    def content(self) -> str:
        """Hash of the data used for scoring."""

    @property
    def tested(self) -> int:
        """Number of samples or users in the test split."""

    def questions(self, merged: Merged, step: int, is_last: bool) -> list[Question]:
        """The questions that clients must answer before that checkpoint can be scored."""

    def observe(
        self, merged: Merged, own: Own, step: int, is_last: bool, answers: Answers = NO_ANSWERS
    ) -> tuple[Scores, State]:
        """Scores of a checkpoint, and the tensors that pictures need; the last one, which may come early, has more."""

    def final(self, merged: Merged, own: Own) -> Scores: ...


@dataclass(frozen=True)
class SampleJudge:
    evaluator: Evaluator
    predict: str | None
    headline: str

    @property
    def choice(self) -> str | None:
        """None, since every checkpoint is tested, unless validation may end the run."""
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
        """Whether all other predictors are scored too."""
        config = self.evaluator.config
        is_small = len(merged.clients) <= config.evaluate.clients
        return self.predict is not None and is_small and config.shows_beside(is_last)

    def final(self, merged: Merged, own: Own) -> Scores:
        return {}
