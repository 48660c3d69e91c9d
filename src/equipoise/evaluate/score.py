"""Scores a checkpoint: the server's predictions on test and validation, and references to compare them with.

References are all other predictors, the probe, and clients' own models. The best single client is chosen on
validation; its figure, like every figure without "validation" in its name, is measured on test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from torch import Tensor

from equipoise.config import traits
from equipoise.core.registry import PREDICTS, Entry
from equipoise.core.streams import stream
from equipoise.core.values import ClientUpdate, Question, State, n_bytes
from equipoise.evaluate.accuracy import accuracy, negative_log_likelihood, recall
from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.probe import probe
from equipoise.models.heads import PROTOTYPES
from equipoise.objective.align import MEANS
from equipoise.server.predict import Merged, Predict, question_of

Scores = dict[tuple[int | None, str], float]
"""(client, or None for the server; metric name) → value."""
Answers = Mapping[Question, Mapping[int, State]]
"""Question → client → its answer."""
NO_ANSWERS: Answers = MappingProxyType({})
NOTHING: Mapping[int, State] = MappingProxyType({})


def questions_of(names: Iterable[str]) -> list[Question]:
    """The questions of these predictors, each once."""
    found = (question_of(PREDICTS.find(name).make) for name in names)
    return list(dict.fromkeys(question for question in found if question is not None))


def score(
    predictions: PredictionCache,
    predict: str | None,
    merged: Merged,
    clients: Sequence[ClientUpdate],
    answers: Answers = NO_ANSWERS,
) -> Scores:
    """Scores of the server on all samples, and of the given clients' own models on `evaluate.client_images` of them.

    Where nothing is merged, the clients' models are the result and are scored on all samples.
    """
    limit = None if predict is None else predictions.evaluator.config.evaluate.client_images
    scores: Scores = {}
    own: dict[str, list[float]] = {}
    for split in ("validation", "test"):
        if predict is not None:
            probabilities = predicted(predictions, predict, merged, split, answers)
            scores |= _merged_scores(probabilities, predictions.labels(split), split)
        own[split] = [accuracy(*predictions.some(split, client.model, limit)) for client in clients]
    if predict is not None:
        scores |= question_bytes(question_of(PREDICTS.find(predict).make), merged, answers)
    named = zip(clients, own["test"], strict=True)
    scores |= {(client.client, "accuracy/test"): value for client, value in named}
    return scores | _client_scores(own["validation"], own["test"], has_merged=predict is not None)


def predicted(
    predictions: PredictionCache, predict: str, merged: Merged, split: str, answers: Answers = NO_ANSWERS
) -> Tensor:
    """Probabilities [N, C] of one predictor on a split."""
    way = PREDICTS.find(predict).make
    question = question_of(way)
    given = NOTHING if question is None else answers[question]
    found: Tensor = way(predictions.view(split, given), merged)
    return found


def question_bytes(question: Question | None, merged: Merged, answers: Answers) -> Scores:
    """Bytes that a question sends down (models that a client does not hold) and up (answers)."""
    if question is None:
        return {(None, "bytes/told"): 0.0, (None, "bytes/asked"): 0.0}
    given = answers[question]
    models, merged_bytes = {client.client: n_bytes(client.model) for client in merged.clients}, n_bytes(merged.model)
    down = 0
    if question.through == "merged":
        down = len(given) * merged_bytes
    elif question.through == "all":
        down = sum(sum(models.values()) - models[client] for client in given)
    up = sum(n_bytes(answer) for answer in given.values())
    return {(None, "bytes/told"): float(up), (None, "bytes/asked"): float(down)}


def beside(
    predictions: PredictionCache,
    merged: Merged,
    answers: Answers = NO_ANSWERS,
    names: Collection[str] | None = None,
) -> Scores:
    """Scores on test and validation of all predictors that this model allows, or those of `names`, and of
    the probe where it has samples to be fitted on."""
    scores: Scores = {}
    for entry in predictors(merged, names or [predictions.evaluator.config.server.predict]):
        if names is not None and entry.name not in names:
            continue
        for split, name in (("validation", "accuracy/validation"), ("test", "accuracy/merged")):
            probabilities = predicted(predictions, entry.name, merged, split, answers)
            scores[None, f"{name}/{entry.name}"] = accuracy(probabilities, predictions.labels(split))
    if predictions.evaluator.has_training:
        scores[None, "accuracy/probe"] = probe(predictions, [client.model for client in merged.clients])
    return scores


def predictors(merged: Merged, own: Collection[str | None] = ()) -> list[Entry[Predict]]:
    """The predictors whose needs are met. Of plugins' predictors only the run's `own`, so that installed packages do
    not change a run."""
    has = {
        traits.PROTOTYPES: PROTOTYPES in merged.model,
        traits.BATCH_NORM: any(name.endswith("running_mean") for name in merged.model),
        traits.MEANS: MEANS in merged.broadcast,
    }
    known = [entry for entry in PREDICTS if not entry.package or entry.name in own]
    return [entry for entry in known if all(has.get(trait, True) for trait in entry.traits)]


def _merged_scores(probabilities: Tensor, labels: Tensor, split: str) -> Scores:
    if split == "validation":
        return {(None, "accuracy/validation"): accuracy(probabilities, labels)}
    return {
        (None, "accuracy/merged"): accuracy(probabilities, labels),
        (None, "loss/merged"): negative_log_likelihood(probabilities, labels),
        **{(None, f"recall/{c}"): value for c, value in recall(probabilities, labels).items()},
    }


def _client_scores(validation: list[float], test: list[float], has_merged: bool) -> Scores:
    if not test:
        return {}
    best = max(range(len(test)), key=lambda i: validation[i])
    scores: Scores = {(None, "accuracy/best_client"): test[best], (None, "accuracy/clients"): sum(test) / len(test)}
    if not has_merged:
        scores[None, "accuracy/validation"] = sum(validation) / len(validation)
    return scores


def chosen_clients(updates: Sequence[ClientUpdate], at_most: int, seed: int, step: int) -> list[ClientUpdate]:
    """All clients if they are few, otherwise a seeded draw of `at_most`."""
    if len(updates) <= at_most:
        return list(updates)
    picked = stream(seed, "score-clients", step).choice(len(updates), at_most, replace=False)
    return [updates[i] for i in sorted(picked)]
