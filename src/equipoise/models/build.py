"""A network from its options, started from the run's own stream: the common start of every client."""

from __future__ import annotations

import torch

from equipoise.config.blocks import ModelOptions
from equipoise.core.registry import MODELS
from equipoise.core.streams import stream_seed
from equipoise.core.values import State
from equipoise.models.classifier import Classifier


def build_model(options: ModelOptions, shape: tuple[int, int, int], n_classes: int, seed: int) -> Classifier:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "model"))
        model = MODELS.find(options.name).make(options, shape, n_classes)
    assert isinstance(model, Classifier)
    return model


def state_of(model: torch.nn.Module) -> State:
    """A copy of every weight and buffer."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
