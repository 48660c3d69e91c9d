from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.objective.compose import View
from equipoise.objective.contrast import contrast, supervised_contrast

# four directions in the plane: products are 1, 0 or −1
EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def con(rows, labels, tau=0.5, extra=None) -> float:
    extra = None if extra is None else torch.tensor(extra)
    return supervised_contrast(torch.tensor(rows), torch.tensor(labels), tau, extra).item()


def test_three_views_by_hand():
    # views 0 and 1 are of one class, view 2 has no positive and takes no part; τ = ½
    first = -log(exp(0) / (exp(0) + exp(-2)))  # from EAST: NORTH at 0, WEST at −1/τ
    second = -log(exp(0) / (exp(0) + exp(0)))  # from NORTH: both at 0
    assert con([EAST, NORTH, WEST], [0, 0, 1]) == pytest.approx((first + second) / 2)


def test_several_positives_are_averaged():
    # all three of one class: −mean_j log share_j for each
    shares = [[exp(0), exp(-2)], [exp(0), exp(0)], [exp(-2), exp(0)]]
    expected = [-sum(log(x / sum(row)) for x in row) / 2 for row in shares]
    assert con([EAST, NORTH, WEST], [4, 4, 4]) == pytest.approx(sum(expected) / 3)


def test_four_views_of_two_classes():
    # EAST, EAST | WEST, WEST: each has one positive at 1/τ and two others at −1/τ
    expected = -log(exp(2) / (exp(2) + 2 * exp(-2)))
    assert con([EAST, EAST, WEST, WEST], [0, 0, 1, 1]) == pytest.approx(expected)


def test_extra_negatives_widen_the_denominator():
    extra = [[1.0, -torch.inf], [0.5, 2.0]]
    first = -log(exp(2) / (exp(2) + exp(1)))
    second = -log(exp(2) / (exp(2) + exp(0.5) + exp(2)))
    assert con([EAST, EAST], [0, 0], extra=extra) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("n", [1, 3])
def test_without_positives_it_costs_nothing_and_pulls_nowhere(n):
    z = torch.eye(3)[:n].requires_grad_()
    loss = supervised_contrast(z, torch.arange(n), 0.07)
    loss.backward()
    assert loss.item() == 0
    assert z.grad is not None
    assert z.grad.abs().max().item() == 0


def view(features, labels, received) -> View:
    labels = torch.tensor(labels)
    moment = Moment(0.0, np.array([1, 1]))
    return View(torch.tensor(features), torch.zeros(len(labels), 2), labels, {}, received, moment)


def test_the_term_uses_directions_not_lengths():
    long = [[3.0, 0.0], [0.0, 0.5], [-7.0, 0.0]]
    assert contrast(0.5)(view(long, [0, 0, 1], {})).item() == pytest.approx(con([EAST, NORTH, WEST], [0, 0, 1]))


def test_a_bank_leaves_out_entries_of_the_same_class():
    bank = {"public.features": torch.tensor([EAST, NORTH, WEST]), "public.labels": torch.tensor([0, 1, 1])}
    found = contrast(0.5, bank="public")(view([EAST, EAST], [0, 0], bank))
    # negatives: NORTH at 0 and WEST at −1/τ; EAST has the views' own label
    assert found.item() == pytest.approx(-log(exp(2) / (exp(2) + exp(0) + exp(-2))))
