"""What every model promises."""

from __future__ import annotations

import pytest
import torch

from equipoise.core.codec import decode, encode
from equipoise.core.registry import MODELS
from equipoise.models.build import build_model, state_of
from tests.conftest import assert_same, for_images, numbers, records, tiny, untouched_rng

NARROW = {"mlp": ("model.hidden=8",), "cnn": ("model.width=4", "model.features=8"), "filters": ("model.filters=2",)}


@pytest.fixture(params=for_images(MODELS))
def config(request):
    size = NARROW.get(request.param, ("model.width=2",))
    limits = ("data.limit=60", "data.test_limit=20", "partition.clients=2", "rounds=1")
    return tiny(*limits, *size, model=request.param)


def built(config, seed: int = 0):
    return build_model(config.model, (3, 8, 8), 10, seed)


def test_a_state_is_taken_up_again_under_the_same_names_after_the_codec(config):
    model = built(config)
    state = state_of(model)
    _, back = decode(encode({}, state))
    assert_same(back, state)
    other = built(config, seed=1)
    other.load_state_dict(back)
    images = torch.linspace(-1, 1, 4 * 3 * 64).reshape(4, 3, 8, 8)
    model.eval()
    other.eval()
    assert torch.equal(model(images).logits, other(images).logits)


def test_names_do_not_depend_on_the_seed(config):
    assert list(state_of(built(config, 0))) == list(state_of(built(config, 1)))


def test_every_parameter_gets_a_gradient(config):
    model = built(config)
    model(torch.linspace(-1, 1, 4 * 3 * 64).reshape(4, 3, 8, 8)).logits.square().mean().backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


def test_it_is_trained_merged_and_scored_the_same_every_time(config):
    with untouched_rng():
        first = numbers(records(config))
    assert numbers(records(config)) == first
    assert (0, None, "accuracy/merged") in first
