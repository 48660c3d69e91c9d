from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.client.finished import Finished
from equipoise.core.values import ClientState, Task


def finished(rates, momentum: float) -> Finished:
    return Finished(Task(0, 0, range(1), {}), {}, {}, np.array(rates), momentum, None, None)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("rates", [[0.1] * 7, [0.3, 0.3, 0.1]], ids=["one rate", "two rates"])
def test_reach_is_how_far_sgd_comes_along_a_gradient_of_1(rates, momentum):
    w = moving = 0.0
    for rate in rates:
        moving = momentum * moving + 1
        w += rate * moving
    assert finished(rates, momentum).reach == pytest.approx(w)


def test_what_is_the_clients_own_goes_before_what_the_server_sent():
    own = ClientState(model={"b": torch.ones(1)})
    task = Task(0, 0, range(1), {"a": torch.zeros(1), "b": torch.zeros(1)}, own)
    start = Finished(task, {}, {}, np.array([0.1]), 0.0, None, None).start
    assert {name: tensor.item() for name, tensor in start.items()} == {"a": 0.0, "b": 1.0}


def test_own_samples_are_seen_through_the_trained_model_by_the_network():
    asked = []
    feed = SimpleNamespace(own=lambda network, models: asked.append((network, models)) or "samples")
    done = Finished(Task(0, 1, range(1), {}), {"w": torch.ones(2)}, {}, np.array([0.1]), 0.0, nn.Identity(), feed)
    assert done.own() == "samples"
    assert asked == [(done.network, [done.model])]
