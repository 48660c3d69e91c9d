"""A multilayer perceptron on flattened pixels."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from torch import nn

from equipoise.models.classifier import Classifier
from equipoise.models.settings import MlpOptions


def mlp(options: MlpOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    """The network for inputs of `shape`; with 0 layers it is logistic regression."""
    sizes = [prod(shape)] + [options.hidden] * options.layers
    hidden = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return Classifier(nn.Sequential(nn.Flatten(), *hidden), sizes[-1], n_classes)
