from __future__ import annotations

import pytest
import torch
from torch import nn

from equipoise.core.registry import MODELS
from equipoise.models.build import build_model
from equipoise.models.resnet import ResidualBlock

BLOCKS = {"resnet8": (1, 1, 1), "resnet10": (1, 1, 1, 1), "resnet18": (2, 2, 2, 2)}


def resnet(name, shape=(3, 8, 8), **options):
    return build_model(MODELS.find(name).options(**options), shape, 10, 0)


def size(model) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def by_hand(blocks, w, n_classes=10, per_norm=2):
    """Convolutions have no bias; a norm has a scale and a shift; a changed shape costs a 1×1 shortcut with a norm."""
    total, c_in = 3 * w * 9 + per_norm * w, w
    for stage, n_blocks in enumerate(blocks):
        c = w * 2**stage
        for _ in range(n_blocks):
            total += c_in * c * 9 + c * c * 9 + 2 * per_norm * c
            total += c_in * c + per_norm * c if c_in != c else 0
            c_in = c
    return total + c_in * n_classes + n_classes


@pytest.mark.parametrize("width", [4, 16])
@pytest.mark.parametrize("name", BLOCKS)
def test_parameters_by_arithmetic(name, width):
    assert size(resnet(name, width=width)) == by_hand(BLOCKS[name], width)


def test_the_default_widths():
    assert size(resnet("resnet8")) == by_hand((1, 1, 1), 16)
    assert resnet("resnet10").head.in_features == 64 * 8


@pytest.mark.parametrize(("norm", "per_norm"), [("batch", 2), ("group", 2), ("none", 0)])
def test_norms(norm, per_norm):
    model = resnet("resnet8", width=4, norm=norm)
    assert size(model) == by_hand((1, 1, 1), 4, per_norm=per_norm)
    kinds = {type(module) for module in model.modules()}
    assert (nn.BatchNorm2d in kinds, nn.GroupNorm in kinds) == (norm == "batch", norm == "group")
    assert any(name.endswith("running_var") for name in model.state_dict()) == (norm == "batch")


@pytest.mark.parametrize(("stride", "side"), [(1, 8), (2, 4)])
def test_the_stems_stride_halves_the_image_and_costs_no_parameter(stride, side):
    model = resnet("resnet8", width=4, stem_stride=stride)
    assert model.encoder[0](torch.zeros(1, 3, 8, 8)).shape == (1, 4, side, side)
    assert size(model) == by_hand((1, 1, 1), 4)


def test_a_projector_sets_the_number_of_features():
    model = resnet("resnet8", width=4, projector=6)
    assert model(torch.zeros(2, 3, 8, 8)).features.shape == (2, 6)
    plain = by_hand((1, 1, 1), 4) - (16 * 10 + 10)
    assert size(model) == plain + (16 * 6 + 6) + (6 * 10 + 10)


def test_a_block_adds_its_input():
    block = ResidualBlock(2, 2, 1, "none")
    with torch.no_grad():
        block.conv2.weight.zero_()
    x = torch.tensor([1.0, -2.0]).reshape(1, 2, 1, 1)
    assert block(x).flatten().tolist() == [1.0, 0.0]  # relu(0 + x)


def test_convolutions_start_with_the_deviation_of_fan_out():
    weight = resnet("resnet8", width=64).state_dict()["encoder.3.conv1.weight"]
    assert weight.std().item() == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.02)
