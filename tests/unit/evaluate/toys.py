"""An evaluator of a few images that are their own features, and networks whose answers are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.core.values import Samples, State
from equipoise.data.inputs import Array, PixelInputs
from equipoise.data.splits import Splits
from equipoise.engine.local import Local
from equipoise.engine.roster import Roster
from equipoise.evaluate.predictions import Evaluator, PredictionCache
from equipoise.evaluate.score import Answers, questions_of
from equipoise.kind.samples.site import SampleSite
from equipoise.method.resolve import resolve
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier, ModelOutput
from equipoise.models.filters import common_encoder
from equipoise.run.ask import ask
from equipoise.server.predict import Merged
from tests.conftest import tiny

SIZE = 6
"""The smallest images that the common filters can look at."""


def images(labels: Sequence[int], values: Sequence[int] | None = None) -> Samples:
    """One-channel images of one grey each; without values, of the grey 10·label."""
    greys = np.array([10 * label for label in labels] if values is None else values, dtype=np.uint8)
    pixels = np.broadcast_to(greys[:, None, None, None], (len(labels), 1, SIZE, SIZE))
    return Samples(np.ascontiguousarray(pixels), np.array(labels, dtype=np.int64))


def splits(train: Samples, validation: Samples, test: Samples, n_classes: int = 3) -> Splits:
    """Constants that leave the pixels as they are: (x/255 − 0) / (1/255)."""
    return Splits(
        "toy",
        train=train,
        validation=validation,
        test=test,
        classes=tuple("abcdefghij"[:n_classes]),
        inputs=PixelInputs((0.0,) * 3, (1 / 255,) * 3),
        public=images([]),
        content="",
    )


class First(nn.Module):
    """The grey of an image as its one feature, times a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1, 0, 0] * self.weight


def network(n_classes: int = 3) -> Classifier:
    return Classifier(First(), 1, n_classes)


def always(answer: int, n_classes: int = 3, weight: float = 1.0) -> dict[str, Tensor]:
    """The state of a network that says `answer` with probability 2/(C + 1) and each other class with 1/(C + 1)."""
    state = {name: torch.zeros_like(tensor) for name, tensor in state_of(network(n_classes)).items()}
    bias = torch.tensor([2.0 if c == answer else 1.0 for c in range(n_classes)]).log()
    return {**state, "head.bias": bias, "encoder.weight": torch.tensor(weight)}


@dataclass(frozen=True)
class Counting(Evaluator):
    """An evaluator that writes down which state it was asked for, and how many images."""

    asked: list[tuple[int, int]] = field(default_factory=list)

    def outputs(self, state: State, stored: Array) -> ModelOutput:
        self.asked.append((id(state), len(stored)))
        return super().outputs(state, stored)


def evaluator(given: Splits, owners: Sequence[Sequence[int]], model: Classifier | None = None, **evaluate) -> Counting:
    config = tiny(*(f"evaluate.{key}={value}" for key, value in evaluate.items()))
    indices = [np.array(own, dtype=np.int64) for own in owners]
    common = common_encoder((3, SIZE, SIZE), config.seed)
    return Counting(model or network(len(given.classes)), common, given, config, indices)


def predictions(train, validation=(0,), test=(0,), owners=((0,),), **evaluate) -> PredictionCache:
    """Of images with those labels, in a set of three classes."""
    return PredictionCache(evaluator(splits(images(train), images(validation), images(test)), owners, **evaluate))


@dataclass(frozen=True)
class ToySite(SampleSite):
    """A site whose clients have the evaluator's network."""

    toy: Classifier | None = None

    def network(self) -> Classifier:
        assert self.toy is not None
        return self.toy


def site_of(given: Evaluator) -> ToySite:
    config, data = given.config, given.splits
    n_classes = len(data.classes)
    return ToySite(config, resolve(config), data.train, given.indices, n_classes, data.inputs, toy=given.model)


def asked(given: Evaluator, merged: Merged, names: Iterable[str]) -> Answers:
    """What the clients answer to all that these ways to predict ask."""
    site = site_of(given)
    roster = Roster(site.n_clients, site.counts, site.is_idle)
    return ask(Local(site), roster, merged, questions_of(names), 0)
