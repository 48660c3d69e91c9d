"""What every model of images promises."""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode
from equipoise.models.build import build_model, state_of
from equipoise.models.classifier import Classifier
from equipoise.testing.small import assert_same, numbers, records, tiny, untouched_rng

LIMITS = ("data.limit=60", "data.test_limit=20", "partition.clients=2", "rounds=1")


def check_model(name: str, *overrides: str) -> None:
    """Check all promises; `overrides` make the model small, as in `model.width=2`."""
    config = config_of(name, *overrides)
    state_survives_the_codec(config)
    names_do_not_depend_on_the_seed(config)
    every_parameter_gets_a_gradient(config)
    training_is_the_same_every_time(config)


def config_of(name: str, *overrides: str) -> Config:
    return tiny(*LIMITS, *overrides, model=name)


def built(config: Config, seed: int = 0) -> Classifier:
    with untouched_rng():
        return build_model(config.model, (3, 8, 8), 10, seed)


def pictures() -> Tensor:
    return torch.linspace(-1, 1, 4 * 3 * 64).reshape(4, 3, 8, 8)


def state_survives_the_codec(config: Config) -> None:
    """The state is restored under the same names and gives the same outputs."""
    model = built(config)
    state = state_of(model)
    _, back = decode(encode({}, state))
    assert_same(back, state)
    other = built(config, seed=1)
    other.load_state_dict(dict(back))
    model.eval()
    other.eval()
    assert torch.equal(model(pictures()).logits, other(pictures()).logits), (
        "a model with the same state answers otherwise"
    )


def names_do_not_depend_on_the_seed(config: Config) -> None:
    names = [list(state_of(built(config, seed))) for seed in (0, 1)]
    assert names[0] == names[1], "the names of its weights depend on the seed"


def every_parameter_gets_a_gradient(config: Config) -> None:
    model = built(config)
    model(pictures()).logits.square().mean().backward()
    without = [
        name for name, parameter in model.named_parameters() if parameter.requires_grad and parameter.grad is None
    ]
    assert not without, f"nothing trains {without}"


def training_is_the_same_every_time(config: Config) -> None:
    with untouched_rng():
        first = numbers(records(config))
    assert numbers(records(config)) == first, "the same run gives other numbers"
    assert (0, None, "accuracy/merged") in first, "the merged model was not scored"
