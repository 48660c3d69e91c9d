from __future__ import annotations

from math import log

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from equipoise.core.values import Moment
from equipoise.objective.classify import balanced_cross_entropy, cross_entropy
from equipoise.objective.compose import View


def view(logits, labels, counts) -> View:
    logits = torch.as_tensor(logits)
    return View(torch.zeros(len(labels), 1), logits, torch.tensor(labels), {}, {}, Moment(0.0, np.array(counts)))


def test_counts_multiply_the_odds():
    # logits 0: p = n_c / n, so (1/4, 3/4)
    given = view([[0.0, 0.0], [0.0, 0.0]], [0, 1], [5, 15])
    assert balanced_cross_entropy(1.0)(given).item() == pytest.approx((log(4) + log(4 / 3)) / 2)


def test_gamma_is_the_power_of_the_counts():
    # odds 2·1² : 3·4²
    given = view([[log(2), log(3)]], [1], [1, 4])
    assert balanced_cross_entropy(2.0)(given).item() == pytest.approx(-log(48 / 50))


def test_equal_counts_change_nothing():
    given = view([[1.0, -2.0, 0.5]], [2], [6, 6, 6])
    assert balanced_cross_entropy(1.0)(given).item() == pytest.approx(cross_entropy(given).item())


def test_a_class_the_client_has_no_image_of_takes_no_part_and_is_not_pushed():
    logits = torch.tensor([[0.0, 0.0, 50.0]], requires_grad=True)
    loss = balanced_cross_entropy(1.0)(view(logits, [0], [2, 2, 0]))
    loss.backward()
    assert loss.item() == pytest.approx(log(2))
    assert logits.grad is not None
    assert logits.grad.flatten().tolist() == pytest.approx([1 / 2 - 1, 1 / 2, 0])


def test_a_client_with_one_class_has_nothing_to_learn():
    logits = torch.tensor([[3.0, -1.0]], requires_grad=True)
    loss = balanced_cross_entropy(1.0)(view(logits, [1], [0, 9]))
    loss.backward()
    assert loss.item() == 0
    assert logits.grad is not None
    assert logits.grad.flatten().tolist() == [0, 0]


def test_with_gamma_zero_counts_do_not_matter_even_where_they_are_zero():
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    found = balanced_cross_entropy(0.0)(view(logits, [0], [4, 1, 0])).item()
    among_owned = F.cross_entropy(logits[:, :2], torch.tensor([0])).item()
    assert found in (pytest.approx(cross_entropy(view(logits, [0], [1, 1, 1])).item()), pytest.approx(among_owned))
