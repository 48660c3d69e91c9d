"""Scoring a checkpoint: the merged thing on test and validation, and clients' own models beside it.

Only the evaluator sees the test and validation splits. The best single client is chosen on validation; its figure,
like every figure without "validation" in its name, is measured on test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.core.streams import stream
from equipoise.core.values import ClientUpdate, Images, Pixels, State
from equipoise.data.augment import normalise
from equipoise.data.splits import Splits
from equipoise.evaluate.accuracy import accuracy, negative_log_likelihood, recall
from equipoise.models.classifier import Classifier, Seen
from equipoise.server.predict import Merged, Predict

Scores = dict[tuple[int | None, str], float]
"""(client, or None for the server; metric name) → value."""


@dataclass(frozen=True)
class Scorer:
    model: Classifier
    splits: Splits
    batch: int

    def logits(self, state: State, images: Images) -> Tensor:
        """Logits [N, C] of a model with that state, in evaluation mode."""
        self.model.load_state_dict(dict(state))
        self.model.eval()
        starts = range(0, len(images), self.batch)
        with torch.inference_mode():
            return torch.cat([self._part(images.pixels[start : start + self.batch]) for start in starts])

    def _part(self, pixels: Pixels) -> Tensor:
        seen = self.model(normalise(torch.tensor(pixels), self.splits.mean, self.splits.std))
        assert isinstance(seen, Seen)
        return seen.logits


def score(scorer: Scorer, predict: Predict | None, merged: Merged, clients: Sequence[ClientUpdate]) -> Scores:
    """The merged thing, and the given clients' own models; a client's logits are computed once and used for both."""
    scores: Scores = {}
    answers: dict[str, list[float]] = {}
    for split in ("validation", "test"):
        images: Images = getattr(scorer.splits, split)
        labels = torch.from_numpy(images.labels)
        known = {client.client: scorer.logits(client.model, images) for client in clients}
        own = {client: accuracy(logits, labels) for client, logits in known.items()}
        answers[split] = list(own.values())
        if predict is not None:
            by_state = {id(client.model): known[client.client] for client in clients}

            def outputs(state: State, images: Images = images, by_state: dict[int, Tensor] = by_state) -> Tensor:
                found = by_state.get(id(state))
                return scorer.logits(state, images) if found is None else found

            scores |= _merged_scores(predict(outputs, merged), labels, split)
        if split == "test":
            scores |= {(client, "accuracy/test"): value for client, value in own.items()}
    return scores | _client_scores(answers, has_merged=predict is not None)


def _merged_scores(probabilities: Tensor, labels: Tensor, split: str) -> Scores:
    if split == "validation":
        return {(None, "accuracy/validation"): accuracy(probabilities, labels)}
    return {
        (None, "accuracy/merged"): accuracy(probabilities, labels),
        (None, "loss/merged"): negative_log_likelihood(probabilities, labels),
        **{(None, f"recall/{c}"): value for c, value in recall(probabilities, labels).items()},
    }


def _client_scores(answers: dict[str, list[float]], has_merged: bool) -> Scores:
    if not answers["test"]:
        return {}
    validation, test = answers["validation"], answers["test"]
    best = max(range(len(test)), key=lambda i: validation[i])
    scores: Scores = {(None, "accuracy/best_client"): test[best], (None, "accuracy/clients"): sum(test) / len(test)}
    if not has_merged:
        scores[None, "accuracy/validation"] = sum(validation) / len(validation)
    return scores


def chosen_clients(updates: Sequence[ClientUpdate], at_most: int, seed: int, step: int) -> list[ClientUpdate]:
    """All clients when they are few, otherwise a seeded draw of `at_most`."""
    if len(updates) <= at_most:
        return list(updates)
    picked = stream(seed, "score-clients", step).choice(len(updates), at_most, replace=False)
    return [updates[i] for i in sorted(picked)]
