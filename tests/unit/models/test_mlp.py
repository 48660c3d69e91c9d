from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

from equipoise.models.build import build_model
from equipoise.models.mlp import MlpOptions


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_parameters_by_arithmetic(layers):
    h, C = 5, 4
    model = build_model(MlpOptions(hidden=h, layers=layers), (3, 8, 8), C, 0)
    expected = (3 * 64 * h + h) + (layers - 1) * (h * h + h) + (h * C + C)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_the_forward_pass_by_hand():
    model = build_model(MlpOptions(hidden=2), (1, 1, 2), 2, 0)
    with torch.no_grad():
        model.encoder[1].weight.copy_(torch.tensor([[1.0, 2.0], [-1.0, 0.0]]))
        model.encoder[1].bias.copy_(torch.tensor([0.5, 0.0]))
        model.head.weight.copy_(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
        model.head.bias.copy_(torch.tensor([0.0, 1.0]))
    seen = model(torch.tensor([[[[1.0, 3.0]]]]))
    assert seen.features.tolist() == [[1 * 1 + 2 * 3 + 0.5, 0.0]]  # relu(−1) = 0
    assert seen.logits.tolist() == [[2 * 7.5, 1.0]]


def test_without_a_hidden_layer_it_is_logistic_regression():
    model = build_model(MlpOptions(layers=0), (1, 1, 2), 3, 0)
    assert [tuple(weight.shape) for weight in model.parameters()] == [(3, 2), (3,)]
    assert model(torch.tensor([[[[1.0, 3.0]]]])).features.tolist() == [[1.0, 3.0]]


def test_sizes_below_one_are_refused():
    for wrong in ({"hidden": 0}, {"layers": -1}):
        with pytest.raises(ValidationError):
            MlpOptions(**wrong)
