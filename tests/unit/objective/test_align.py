from __future__ import annotations

import torch

from equipoise.objective.align import proximal
from equipoise.objective.compose import View


def view(params, received) -> View:
    return View(torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1), params, received)


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
