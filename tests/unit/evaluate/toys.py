"""A scorer over a few images that are their own features, and networks whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.core.values import Images, Pixels, State
from equipoise.data.splits import Splits
from equipoise.evaluate.predictions import PredictionCache, Scorer
from equipoise.models.build import state_of
from equipoise.models.classifier import Classifier, ModelOutput
from tests.conftest import tiny

SIZE = 6
"""The smallest images that the common filters can look at."""


def images(labels: Sequence[int], values: Sequence[int] | None = None) -> Images:
    """One-channel images of one grey each; without values, of the grey 10·label."""
    greys = np.array([10 * label for label in labels] if values is None else values, dtype=np.uint8)
    pixels = np.broadcast_to(greys[:, None, None, None], (len(labels), 1, SIZE, SIZE))
    return Images(np.ascontiguousarray(pixels), np.array(labels, dtype=np.int64))


def splits(train: Images, validation: Images, test: Images, n_classes: int = 3) -> Splits:
    """Constants that leave the pixels as they are: (x/255 − 0) / (1/255)."""
    return Splits(
        "toy",
        train=train,
        validation=validation,
        test=test,
        classes=tuple("abcdefghij"[:n_classes]),
        mean=(0.0,) * 3,
        std=(1 / 255,) * 3,
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
class Counting(Scorer):
    """A scorer that writes down which state it was asked for, and how many images."""

    asked: list[tuple[int, int]] = field(default_factory=list)

    def seen(self, state: State, pixels: Pixels) -> ModelOutput:
        self.asked.append((id(state), len(pixels)))
        return super().seen(state, pixels)


def scorer(given: Splits, owners: Sequence[Sequence[int]], model: Classifier | None = None, **evaluate) -> Counting:
    config = tiny(*(f"evaluate.{key}={value}" for key, value in evaluate.items()))
    indices = [np.array(own, dtype=np.int64) for own in owners]
    return Counting(model or network(len(given.classes)), given, config, indices)


def predictions(train, validation=(0,), test=(0,), owners=((0,),), **evaluate) -> PredictionCache:
    """Of images with those labels, in a set of three classes."""
    return PredictionCache(scorer(splits(images(train), images(validation), images(test)), owners, **evaluate))
