from __future__ import annotations

from math import exp

import pytest
import torch

from equipoise.models.classifier import ModelOutput
from equipoise.server.feature_average import anchors, feature_average
from equipoise.server.predict import Merged
from tests.conftest import update, view

# one image; F = ¾·(4, 0) + ¼·(0, 16) = (3, 4), z = (0.6, 0.8)
CLIENTS = [update(0, 30, {"f": torch.tensor([[4.0, 0.0]])}), update(1, 10, {"f": torch.tensor([[0.0, 16.0]])})]
MODEL = {"head.prototypes": torch.tensor([[5.0, 0.0], [0.0, 1.0]]), "head.anchors": torch.tensor([[0, 1.0], [1, 0]])}
VIEW = view(lambda state: ModelOutput(state["f"], torch.zeros(1, 2)))


def softmax(first: float, second: float) -> list[float]:
    return [exp(first) / (exp(first) + exp(second)), exp(second) / (exp(first) + exp(second))]


def test_the_mean_feature_against_the_merged_prototypes():
    found = feature_average(VIEW, Merged(MODEL, CLIENTS))
    assert found.flatten().tolist() == pytest.approx(softmax(5 * 0.6, 0.8))


def test_the_mean_feature_against_the_anchors():
    assert anchors(VIEW, Merged(MODEL, CLIENTS)).flatten().tolist() == pytest.approx(softmax(0.8, 0.6))


@pytest.mark.parametrize("predict", [feature_average, anchors])
def test_the_order_of_the_clients_does_not_matter(predict):
    assert torch.equal(predict(VIEW, Merged(MODEL, CLIENTS)), predict(VIEW, Merged(MODEL, CLIENTS[::-1])))
