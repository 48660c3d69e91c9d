from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.core.values import Moment
from equipoise.models.classifier import ModelOutput
from equipoise.objective.compose import View
from equipoise.objective.model_contrast import model_contrast

SENT, LAST = {"w": torch.tensor(1.0)}, {"previous/w": torch.tensor(2.0)}


def view(features: list[list[float]], seen: dict[float, list[list[float]]], share: Tensor | None = None) -> View:
    """`seen`: the weight of a model → the features that it sees."""

    def with_weights(weights) -> ModelOutput:
        return ModelOutput(torch.tensor(seen[weights["w"].item()]), torch.zeros(1, 1))

    z, received = torch.tensor(features, requires_grad=True), {**SENT, **LAST}
    return View(z, z, torch.zeros(1), {}, received, Moment(0.0, np.array([1])), share, with_weights)


def test_where_both_models_are_the_same_it_is_log_2_and_pulls_nowhere():
    given = view([[1.0, 2.0]], {1.0: [[3.0, -1.0]], 2.0: [[3.0, -1.0]]})
    value = model_contrast(0.5)(given)
    value.backward()
    assert value.item() == pytest.approx(log(2))
    assert given.features.grad.flatten().tolist() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_by_hand():
    # cos = 1 with the model that was sent, 0.6 with the last
    value = model_contrast(0.5)(view([[2.0, 0.0]], {1.0: [[1.0, 0.0]], 2.0: [[3.0, 4.0]]}))
    assert value.item() == pytest.approx(-log(exp(1 / 0.5) / (exp(1 / 0.5) + exp(0.6 / 0.5))))


def test_it_is_less_the_nearer_features_are_to_what_was_sent():
    near, far = (
        model_contrast(0.5)(view([z], {1.0: [[1.0, 0.0]], 2.0: [[0.0, 1.0]]})).item() for z in ([1.0, 0.1], [0.1, 1.0])
    )
    assert near < log(2) < far


def test_what_fills_up_a_batch_has_no_share():
    seen = {1.0: [[1.0, 0.0]] * 2, 2.0: [[0.0, 1.0]] * 2}
    filled = model_contrast(0.5)(view([[1.0, 0.0], [0.0, 1.0]], seen, torch.tensor([1.0, 0.0])))
    alone = model_contrast(0.5)(view([[1.0, 0.0]], {1.0: [[1.0, 0.0]], 2.0: [[0.0, 1.0]]}))
    assert filled.item() == pytest.approx(alone.item())
