"""Scoring a checkpoint: the merged thing on test and validation, and clients' own models beside it.

Only the evaluator sees the test and validation splits. The best single client is chosen on validation; its figure,
like every figure without "validation" in its name, is measured on test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from equipoise.config.schema import Config
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
    """A network to load states into, the splits, and how much of them is used."""

    model: Classifier
    splits: Splits
    config: Config

    def seen(self, state: State, pixels: Pixels) -> Seen:
        """Features [N, D] and logits [N, C] of a model with that state, in evaluation mode."""
        self.model.load_state_dict(dict(state))
        self.model.eval()
        size = self.config.evaluate.batch
        with torch.inference_mode():
            parts = [self._part(pixels[start : start + size]) for start in range(0, len(pixels), size)]
            return Seen(torch.cat([part.features for part in parts]), torch.cat([part.logits for part in parts]))

    def _part(self, pixels: Pixels) -> Seen:
        seen = self.model(normalise(torch.tensor(pixels), self.splits.mean, self.splits.std))
        assert isinstance(seen, Seen)
        return seen

    def sheet(self, images: Images, limit: int | None) -> Sheet:
        """A split to answer; `limit` is how many of its images clients' own models are scored on."""
        draw = stream(self.config.seed, "client-images", len(images))
        return Sheet(self, images, np.sort(draw.permutation(len(images))[:limit]))


@dataclass(frozen=True)
class Sheet:
    """One split and the answers to it so far: a model that was asked for all images is not asked again for some."""

    scorer: Scorer
    images: Images
    some: np.ndarray[tuple[int], np.dtype[np.int64]]
    known: dict[int, Seen] = field(default_factory=dict)

    def answers(self, state: State) -> Seen:
        if id(state) not in self.known:
            self.known[id(state)] = self.scorer.seen(state, self.images.pixels)
        return self.known[id(state)]

    def accuracy_on_some(self, state: State) -> float:
        known = self.known.get(id(state))
        some = self.images.pixels[self.some]
        logits = self.scorer.seen(state, some).logits if known is None else known.logits[self.some]
        return accuracy(logits, torch.from_numpy(self.images.labels[self.some]))


def score(scorer: Scorer, predict: Predict | None, merged: Merged, clients: Sequence[ClientUpdate]) -> Scores:
    """The merged thing on all images, and the given clients' own models on `evaluate.client_images` of them.

    Where nothing is merged the clients' models are the result, and are scored on all images.
    """
    limit = None if predict is None else scorer.config.evaluate.client_images
    scores: Scores = {}
    own: dict[str, list[float]] = {}
    for split in ("validation", "test"):
        sheet = scorer.sheet(getattr(scorer.splits, split), limit)
        if predict is not None:
            labels = torch.tensor(sheet.images.labels)
            scores |= _merged_scores(predict(sheet.answers, merged), labels, split)
        own[split] = [sheet.accuracy_on_some(client.model) for client in clients]
    named = zip(clients, own["test"], strict=True)
    scores |= {(client.client, "accuracy/test"): value for client, value in named}
    return scores | _client_scores(own["validation"], own["test"], has_merged=predict is not None)


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
    """All clients when they are few, otherwise a seeded draw of `at_most`."""
    if len(updates) <= at_most:
        return list(updates)
    picked = stream(seed, "score-clients", step).choice(len(updates), at_most, replace=False)
    return [updates[i] for i in sorted(picked)]
