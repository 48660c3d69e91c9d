from __future__ import annotations

import pytest
import torch

from equipoise.models.build import build_model
from equipoise.models.cnn import CnnOptions


def size(model) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("side", [8, 28, 32])
def test_parameters_by_arithmetic(side):
    w, D, C = 32, 128, 10
    convolutions = (3 * w * 9 + w) + (w * 2 * w * 9 + 2 * w)
    hidden = 2 * w * (side // 4) ** 2 * D + D
    assert size(build_model(CnnOptions(), (3, side, side), C, 0)) == convolutions + hidden + D * C + C


def test_the_default_has_a_little_more_than_half_a_million():
    assert size(build_model(CnnOptions(), (3, 32, 32), 10, 0)) == 896 + 18_496 + 524_416 + 1_290


@pytest.mark.parametrize(("norm", "extra"), [("none", 0), ("batch", 2 * (4 + 8)), ("group", 2 * (4 + 8))])
def test_normalisation_adds_a_scale_and_a_shift_per_channel(norm, extra):
    plain, normed = (build_model(CnnOptions(width=4, features=8, norm=n), (3, 8, 8), 10, 0) for n in ("none", norm))
    assert size(normed) - size(plain) == extra
    assert any("running_mean" in name for name in normed.state_dict()) == (norm == "batch")


def test_features_are_never_negative():
    model = build_model(CnnOptions(width=4, features=8), (3, 8, 8), 10, 0)
    images = torch.linspace(-2, 2, 4 * 3 * 64).reshape(4, 3, 8, 8)
    assert model(images).features.min() >= 0


def test_pooling_first_has_the_bits_of_pooling_last():
    model = build_model(CnnOptions(width=4, features=8), (3, 8, 8), 10, 0)
    first, pool, relu = model.encoder[0], model.encoder[2], model.encoder[3]
    assert (type(pool), type(relu)) == (torch.nn.MaxPool2d, torch.nn.ReLU)
    images = torch.linspace(-2, 2, 4 * 3 * 64).sin().reshape(4, 3, 8, 8)
    upstream = torch.linspace(-1, 1, 4 * 4 * 16).reshape(4, 4, 4, 4)
    found = [(out(first(images)) * upstream).sum() for out in (lambda x: relu(pool(x)), lambda x: pool(relu(x)))]
    gradients = [torch.autograd.grad(one, list(first.parameters())) for one in found]
    assert torch.equal(*found)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*gradients, strict=True))
