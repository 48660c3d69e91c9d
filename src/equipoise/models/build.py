"""Builds a network from its options. All clients start from the same weights, drawn from the run's own random stream.

Weights are held channels-last: convolutions are up to twice as fast on a CPU in this layout. States that travel are
contiguous copies, so that every engine and every resumed run computes on the same layout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from equipoise.config.blocks import ModelOptions
from equipoise.core.errors import ConfigError, PluginError
from equipoise.core.machine import memory
from equipoise.core.registry import MODELS
from equipoise.core.streams import stream_seed
from equipoise.core.values import State
from equipoise.data.interactions import Features
from equipoise.models.classifier import Classifier
from equipoise.models.item_tables import ItemTables
from equipoise.models.recommender import Recommender

COPIES = 3
"""Numbers held per weight in training: the weight, its gradient, its update."""
Head = Callable[[int, int, int], nn.Module]
"""(features D, classes C, seed) → the module that maps features to logits."""


def build_model(
    options: ModelOptions, shape: tuple[int, ...], n_classes: int, seed: int, head: Head | None = None
) -> Classifier:
    """A classifier with a linear head, or with the head that a method provides."""
    model = _made(options, seed, shape, n_classes)
    _require(model, Classifier, options)
    assert isinstance(model, Classifier)
    if head is not None:
        model.head = head(model.n_features, n_classes, seed)
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def build_recommender(options: ModelOptions, n_items: int, features: Mapping[str, Features], seed: int) -> Recommender:
    """A recommender for a catalogue of `n_items`; `features` are those that its experts read."""
    model = _made(options, seed, n_items, features)
    _require(model, Recommender, options)
    assert isinstance(model, Recommender)
    return model


def build_tables(options: ModelOptions, n_items: int, seed: int) -> ItemTables:
    """The model of a method in closed form, for a catalogue of `n_items`."""
    model = _made(options, seed, n_items, {})
    _require(model, ItemTables, options)
    assert isinstance(model, ItemTables)
    return model


def _require(model: object, kind: type[nn.Module], options: ModelOptions) -> None:
    if not isinstance(model, kind):
        entry = MODELS.find(options.name)
        what = f"model '{entry.name}' gives no {kind.__name__}: got {type(model).__name__}"
        raise PluginError(what, where=str(entry.origin), fix=f"return a {kind.__module__}.{kind.__name__}")


def _made(options: ModelOptions, seed: int, *about: Any) -> nn.Module:
    """The network, with weights drawn from the run's own stream."""
    _require_room(options, about)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream_seed(seed, "model"))
        model: nn.Module = MODELS.find(options.name).make(options, *about)
    return model


def _require_room(options: ModelOptions, about: tuple[Any, ...]) -> None:
    """Refuse a network whose weights, gradients and updates do not fit into memory.

    The size is read from a copy on the meta device, which holds no numbers. A network that cannot be built there is
    not checked.
    """
    try:
        with torch.device("meta"):
            model = MODELS.find(options.name).make(options, *about)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        if "overflow" not in str(error):
            return
        size = float("inf")
    else:
        parameters = model.parameters() if isinstance(model, nn.Module) else ()
        size = COPIES * sum(param.numel() * param.element_size() for param in parameters)
    if size > memory():
        what = f"model '{options.name}' with these settings does not fit into memory"
        needs = f"it takes {size / 2**30:,.0f} GiB to train, and this machine has {memory() / 2**30:,.0f}"
        raise ConfigError(f"{what}: {needs}", where="model", fix="a smaller width, or fewer features")


def state_of(model: torch.nn.Module) -> State:
    """A contiguous copy of every weight and buffer."""
    return contiguous_copies(model.state_dict())


def contiguous_copies(state: State) -> State:
    """A copy of every tensor in contiguous layout."""
    return {name: tensor.detach().clone(memory_format=torch.contiguous_format) for name, tensor in state.items()}
