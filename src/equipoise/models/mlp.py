"""A multilayer perceptron on flattened pixels."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from pydantic import Field
from torch import nn

from equipoise.config.blocks import ModelOptions
from equipoise.core.registry import MODELS
from equipoise.models.classifier import Classifier


class MlpOptions(ModelOptions):
    name: str = "mlp"
    hidden: int = Field(64, ge=1, description="units of each hidden layer")
    layers: int = Field(1, ge=0, description="number of hidden layers; 0: logistic regression")


@MODELS.register("mlp", options=MlpOptions)
def mlp(options: MlpOptions, shape: tuple[int, int, int], n_classes: int) -> Classifier:
    sizes = [prod(shape)] + [options.hidden] * options.layers
    hidden = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return Classifier(nn.Sequential(nn.Flatten(), *hidden), sizes[-1], n_classes)
