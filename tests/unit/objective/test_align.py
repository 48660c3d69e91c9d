from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.objective.align import ANCHORS, proximal, to_anchors
from equipoise.objective.compose import View
from equipoise.objective.prototypes import PROTOTYPES

NOW = Moment(0.25, np.array([4, 0, 1]))


def view(params, received) -> View:
    return View(torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1), params, received, NOW)


def test_half_the_squared_distance():
    params = {"w": torch.tensor([1.0, 2.0]), "b": torch.tensor([3.0])}
    received = {"w": torch.zeros(2), "b": torch.tensor([1.0])}
    assert proximal(view(params, received)).item() == (1 + 4 + 4) / 2


def test_no_distance_costs_nothing():
    params = {"w": torch.tensor([[1.0, -2.0]])}
    assert proximal(view(params, params)).item() == 0


def test_the_gradient_is_the_way_back():
    w = torch.tensor([1.0, 2.0, -4.0], requires_grad=True)
    start = torch.tensor([0.5, 2.5, 1.0])
    proximal(view({"w": w}, {"w": start})).backward()
    assert w.grad.tolist() == [0.5, -0.5, -5.0]  # w − w_t


def test_buffers_that_are_no_parameters_do_not_count():
    received = {"w": torch.zeros(1), "running_mean": torch.ones(3)}
    assert proximal(view({"w": torch.tensor([2.0])}, received)).item() == 2


# three classes in two dimensions
PROTOS = [[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
FIXED = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
START = [[5.0, 0.0], [0.0, 1.0], [-2.0, 4.0]]
SQUARES = [(4 + 0) / 2, (0 + 1) / 2, (1 + 1) / 2]  # ‖p_c − a_c‖²/D


def prototypes(values=PROTOS) -> View:
    received = {ANCHORS: torch.tensor(FIXED), PROTOTYPES: torch.tensor(START)}
    return view({PROTOTYPES: torch.tensor(values, requires_grad=True)}, received)


def test_the_mean_squared_distance_to_the_anchors():
    assert to_anchors()(prototypes()).item() == pytest.approx(sum(SQUARES) / 3)


def test_of_owned_classes_only():
    # the client of NOW has images of classes 0 and 2
    assert to_anchors("owned")(prototypes()).item() == pytest.approx((SQUARES[0] + SQUARES[2]) / 2)


def test_a_path_from_the_start_to_the_anchors():
    # a quarter of the run is over: t = ¾·P_start + ¼·A = (4, 0), (0, 1), (−1.5, 3)
    expected = ((1 + 0) / 2 + (0 + 1) / 2 + (2.5**2 + 2**2) / 2) / 3
    assert to_anchors("all", "progressive")(prototypes()).item() == pytest.approx(expected)


def test_prototypes_at_the_anchors_cost_nothing():
    assert to_anchors()(prototypes(FIXED)).item() == 0


def test_classes_that_are_not_owned_are_not_pulled():
    given = prototypes()
    to_anchors("owned")(given).backward()
    grad = given.params[PROTOTYPES].grad
    assert grad is not None
    assert grad.tolist() == [[2.0 / 2, 0.0], [0.0, 0.0], [1 / 2, 1 / 2]]  # 2(p − a)/D over two owned classes
