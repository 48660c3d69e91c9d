from __future__ import annotations

from math import log

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.objective.classify import cross_entropy
from equipoise.objective.compose import View

NOW = Moment(0.0, np.array([1, 1]))


def view(logits, labels) -> View:
    return View(torch.zeros(len(labels), 1), torch.tensor(logits), torch.tensor(labels), {}, {}, NOW)


def test_cross_entropy_by_hand():
    # softmax(0, log 3) = (1/4, 3/4); softmax(0, 0) = (1/2, 1/2)
    loss = cross_entropy(view([[0.0, log(3)], [0.0, 0.0]], [1, 0]))
    assert loss.item() == pytest.approx((log(4 / 3) + log(2)) / 2)


def test_a_certain_right_answer_costs_nothing():
    assert cross_entropy(view([[100.0, 0.0, 0.0]], [0])).item() == 0


def test_its_gradient_is_probability_minus_truth():
    logits = torch.tensor([[0.0, log(3)]], requires_grad=True)
    cross_entropy(View(torch.zeros(1, 1), logits, torch.tensor([0]), {}, {}, NOW)).backward()
    assert logits.grad.flatten().tolist() == pytest.approx([1 / 4 - 1, 3 / 4])
