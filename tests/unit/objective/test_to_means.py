from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.objective.align import COUNTS, MEANS, to_means
from equipoise.objective.compose import View

# class 1 has no mean: its row is zero because nobody has such an image
RECEIVED = {MEANS: torch.tensor([[1.0, 1.0], [0.0, 0.0], [2.0, 0.0]]), COUNTS: torch.tensor([4.0, 0.0, 1.0])}
FEATURES, LABELS = [[3.0, 1.0], [9.0, 9.0], [2.0, 5.0], [1.0, 0.0]], [0, 1, 2, 0]


def view(received, features=FEATURES, labels=LABELS) -> View:
    given = torch.tensor(features, requires_grad=True)
    return View(
        given, torch.zeros(len(labels), 3), torch.tensor(labels), {}, received, Moment(0.0, np.array([2, 1, 1]))
    )


def test_the_mean_squared_distance_to_the_class_means():
    # (2, 0), (0, 5) and (0, −1) from their means; the image of class 1 takes no part
    assert to_means(view(RECEIVED)).item() == pytest.approx((4 / 2 + 25 / 2 + 1 / 2) / 3)


def test_the_gradient_is_the_way_to_the_mean():
    given = view(RECEIVED)
    to_means(given).backward()
    assert given.features.grad is not None
    # 2(f − m)/D over the three images that have a mean
    assert given.features.grad.flatten().tolist() == pytest.approx([2 / 3, 0, 0, 0, 0, 5 / 3, 0, -1 / 3])


@pytest.mark.parametrize("received", [{}, {"head.weight": torch.ones(1)}, {**RECEIVED, COUNTS: torch.zeros(3)}])
def test_before_there_are_means_it_costs_nothing_and_pulls_nowhere(received):
    given = view(received)
    loss = to_means(given)
    loss.backward()
    assert loss.item() == 0
    assert given.features.grad is not None
    assert given.features.grad.abs().max().item() == 0


def test_features_at_their_means_cost_nothing():
    assert to_means(view(RECEIVED, [[1.0, 1.0], [2.0, 0.0]], [0, 2])).item() == 0
