from __future__ import annotations

import pytest
import torch
from torch import nn

from equipoise.client.together import CACHE, GROUPS, LEAST, MOST, how_many, multiply_adds, stacks
from equipoise.models.build import build_model
from equipoise.run.build import build
from tests.conftest import tiny


def model_of(*settings: str, model: str = "mlp", size: int = 8) -> nn.Module:
    return build_model(tiny(*settings, model=model).model, (3, size, size), 10, 0)


def test_multiply_adds_by_hand():
    linear = model_of("model.hidden=16")
    assert multiply_adds(linear, torch.zeros(1, 3, 8, 8)) == 3 * 64 * 16 + 16 * 10
    cnn = model_of("model.width=4", "model.features=8", model="cnn")
    convolutions = 64 * (3 * 9) * 4 + 16 * (4 * 9) * 8  # the second one after pooling
    assert multiply_adds(cnn, torch.zeros(1, 3, 8, 8)) == convolutions + 8 * 4 * 8 + 8 * 10
    assert cnn.training


def test_statistics_and_noise_keep_clients_apart():
    assert stacks(model_of())
    assert stacks(model_of("model.width=4", "model.norm=group", model="cnn"))
    assert not stacks(model_of("model.width=4", model="resnet8"))
    assert not stacks(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)))


@pytest.mark.parametrize(
    ("settings", "size", "cohort", "expected"),
    [
        (("mlp", "model.hidden=16"), 8, 10_000, MOST),
        (("mlp", "model.hidden=16"), 8, 100, 100 // GROUPS),
        (("mlp", "model.hidden=16"), 8, GROUPS * (LEAST - 1), 1),  # too few to pay
        (("mlp", "model.hidden=64"), 32, 1000, CACHE // (12 * (3 * 1024 * 64 + 64 + 650))),  # as many as fit
        (("mlp", "model.hidden=512"), 32, 1000, 1),  # hardly any fit
        (("cnn",), 32, 1000, 1),  # the arithmetic is all
    ],
    ids=str,
)
def test_as_many_as_pay(settings, size, cohort, expected):
    model = model_of(*settings[1:], model=settings[0], size=size)
    assert how_many(model, torch.zeros(1, 3, size, size), 10, cohort) == expected


def test_a_site_asks_for_the_cohort_of_its_rounds():
    many = ("partition.alpha=5", "partition.clients=60", "data.limit=1000")
    assert build(tiny(*many)).site.together == 60 // GROUPS
    assert build(tiny(*many, "server.fraction=0.1")).site.together == 1
    assert build(tiny(*many, "engine.together=3")).site.together == 3
    assert build(tiny(*many, "method=memory-bank")).site.together == 1
