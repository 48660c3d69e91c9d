from __future__ import annotations

import numpy as np
import torch

from equipoise.core.values import Moment
from equipoise.objective.compose import View
from equipoise.objective.drift import control, dynamic

NOW = Moment(0.0, np.array([1]))


def view(params, received) -> View:
    return View(torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1), params, received, NOW)


def test_the_gradient_of_control_is_the_difference_of_the_variates():
    a, buffer = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([7.0])
    received = {"a": torch.zeros(2), "c/a": torch.tensor([0.5, 0.5]), "c_k/a": torch.tensor([2.0, -1.0])}
    value = control(view({"a": a, "buffer": buffer}, received))
    value.backward()
    assert value.item() == (0.5 - 2.0) * 1 + (0.5 + 1.0) * 2
    assert a.grad.tolist() == [-1.5, 1.5]


def test_before_the_first_merge_the_servers_variate_is_zero():
    a = torch.tensor([3.0], requires_grad=True)
    control(view({"a": a}, {"a": torch.zeros(1), "c_k/a": torch.tensor([2.0])})).backward()
    assert a.grad.tolist() == [-2.0]


def test_the_gradient_of_dynamic_pulls_to_what_was_sent_and_along_what_is_kept():
    a = torch.tensor([3.0], requires_grad=True)
    received = {"a": torch.tensor([1.0]), "h_k/a": torch.tensor([0.25])}
    value = dynamic(0.5)(view({"a": a}, received))
    value.backward()
    assert value.item() == 0.25 * 4 - 0.25 * 3
    assert a.grad.tolist() == [0.5 * 2 - 0.25]
