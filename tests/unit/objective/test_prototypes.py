from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.objective.classify import cross_entropy
from equipoise.objective.compose import View
from equipoise.objective.prototypes import PROTOTYPES, prototype_feature, prototype_prototype


def view(prototypes, logits=((0.0, 0.0),), labels=(0,)) -> View:
    params = {PROTOTYPES: torch.tensor(prototypes)}
    moment = Moment(0.0, np.array([1, 1]))
    return View(torch.zeros(1, 2), torch.tensor(logits), torch.tensor(labels), params, {}, moment)


def test_at_temperature_one_it_is_cross_entropy_again():
    given = view([[1.0]], logits=[[0.0, log(3)], [2.0, -1.0]], labels=[1, 1])
    assert prototype_feature()(given).item() == cross_entropy(given).item()


def test_a_temperature_divides_the_logits():
    given = view([[1.0]], logits=[[0.0, log(9)]], labels=[1])
    assert prototype_feature(2.0)(given).item() == pytest.approx(log(4 / 3))  # softmax(0, log 3) = (1/4, 3/4)


def test_prototypes_by_hand():
    # p_0 = (2, 0), p_1 = (0, 1): products (4, 0) and (0, 1)
    expected = (-log(exp(4) / (exp(4) + 1)) - log(exp(1) / (exp(1) + 1))) / 2
    assert prototype_prototype()(view([[2.0, 0.0], [0.0, 1.0]])).item() == pytest.approx(expected)


def test_with_a_temperature():
    expected = (-log(exp(2) / (exp(2) + 1)) - log(exp(0.5) / (exp(0.5) + 1))) / 2
    assert prototype_prototype(2.0)(view([[2.0, 0.0], [0.0, 1.0]])).item() == pytest.approx(expected)


def test_with_cosine_logits_only_directions_count():
    expected = -log(exp(16) / (exp(16) + 1))
    assert prototype_prototype(kappa=16)(view([[2.0, 0.0], [0.0, 9.0]])).item() == pytest.approx(expected, abs=1e-7)
    assert prototype_prototype(kappa=1)(view([[2.0, 0.0], [-9.0, 0.0]])).item() == pytest.approx(
        -log(exp(1) / (exp(1) + exp(-1)))
    )


@pytest.mark.parametrize("kappa", [None, 16.0])
def test_equal_prototypes_cost_the_log_of_their_number(kappa):
    assert prototype_prototype(kappa=kappa)(view([[0.5, 1.0]] * 7)).item() == pytest.approx(log(7))


def test_long_prototypes_far_apart_cost_nothing():
    assert prototype_prototype()(view([[20.0, 0.0], [0.0, 20.0]])).item() == 0
