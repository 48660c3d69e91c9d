from __future__ import annotations

import pytest
import torch

from equipoise.core.registry import MODELS
from equipoise.models.build import build_model, contiguous_copies, state_of
from equipoise.models.classifier import ModelOutput
from tests.backbones import drawn
from tests.conftest import assert_same, for_images, untouched_rng

NARROW = {
    "cnn": {"width": 4, "features": 8},
    "mlp": {"hidden": 8},
    "filters": {"filters": 2},
    "linear": {},
    "patches": {"filters": 2},
}
FIXED = {"filters", "patches", "linear", "backbone"}
"""Models whose encoder nobody trains."""
SIZES = [(3, 8, 8), (3, 28, 28), (3, 32, 32)]


def built(name, shape=(3, 8, 8), n_classes=10, seed=0, **options):
    kind = MODELS.find(name).options
    narrow = drawn() if name == "backbone" else NARROW.get(name, {"width": 4})
    return build_model(kind(**{**narrow, **options}), shape, n_classes, seed)


@pytest.mark.parametrize("shape", SIZES, ids=lambda shape: f"{shape[1]}x{shape[2]}")
@pytest.mark.parametrize("name", for_images(MODELS))
def test_features_and_logits_have_the_shapes_they_say(name, shape):
    model = built(name, shape, n_classes=7)
    seen = model(torch.zeros(5, *shape))
    assert isinstance(seen, ModelOutput)
    assert seen.logits.shape == (5, 7)
    assert seen.features.shape == (5, model.head.in_features)
    assert torch.equal(seen.logits, model.head(seen.features))


@pytest.mark.parametrize("name", for_images(MODELS))
def test_the_start_belongs_to_the_seed(name, seed):
    assert_same(state_of(built(name, seed=seed)), state_of(built(name, seed=seed)))
    one, other = (state_of(built(name, seed=number)) for number in (seed, seed + 1))
    assert not torch.equal(one["head.weight"], other["head.weight"])


@pytest.mark.parametrize("name", for_images(MODELS))
def test_building_leaves_the_global_generators_alone(name):
    with untouched_rng():
        built(name)


def test_the_start_does_not_depend_on_the_global_generator(seed):
    states = []
    with torch.random.fork_rng(devices=[]):
        for number in (1, 2):
            torch.manual_seed(number)
            states.append(state_of(built("cnn", seed=seed)))
    assert_same(*states)


@pytest.mark.parametrize("name", for_images(MODELS))
def test_groups_cover_every_parameter_exactly_once(name):
    model = built(name)
    grouped = [parameter for names in model.groups.values() for parameter in names]
    assert sorted(grouped) == sorted(parameter for parameter, _ in model.named_parameters())
    assert len(grouped) == len(set(grouped))
    assert model.groups["head"] == ["head.weight", "head.bias"]
    assert (model.groups["encoder"] == []) == (name in FIXED)


def test_convolutions_are_held_channels_last_and_states_travel_contiguous():
    model = built("resnet8")
    weight = model.state_dict()["encoder.3.conv1.weight"]
    assert weight.is_contiguous(memory_format=torch.channels_last)
    assert not weight.is_contiguous()
    assert all(tensor.is_contiguous() for tensor in state_of(model).values())


def test_a_state_is_a_copy():
    model = built("mlp")
    state = state_of(model)
    with torch.no_grad():
        model.head.weight += 1
    assert not torch.equal(state["head.weight"], model.head.weight)


def test_contiguous_copies_need_no_gradient_and_share_nothing():
    tensor = torch.zeros(2, 3, requires_grad=True)
    copy = contiguous_copies({"w": tensor.t()})["w"]
    assert copy.is_contiguous()
    assert not copy.requires_grad
    copy += 1
    assert tensor.sum() == 0
