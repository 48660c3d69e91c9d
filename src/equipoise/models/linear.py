"""A linear head on the inputs as they are: features that somebody has computed already, or pixels.

    features = x        logits = W·x + b

As a method's network it is a linear probe; trained alone it is logistic regression.
"""

from __future__ import annotations

from math import prod

from torch import nn

from equipoise.models.classifier import Classifier
from equipoise.models.settings import LinearOptions


def linear(options: LinearOptions, shape: tuple[int, ...], n_classes: int) -> Classifier:
    return Classifier(nn.Flatten(), prod(shape), n_classes)
