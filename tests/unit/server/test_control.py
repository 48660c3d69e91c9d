from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise.client.finished import Finished
from equipoise.core.values import ClientState, ClientUpdate, Task
from equipoise.server.control import change, controlled
from equipoise.server.merge import ServerState


def sent(client: int, w: float, delta: float, samples: int = 1) -> ClientUpdate:
    return ClientUpdate(client, samples, {"w": torch.tensor([w])}, ClientState(report={"w": torch.tensor([delta])}), {})


def test_every_client_counts_alike_and_absent_ones_count_as_unchanged():
    start = ServerState({"w": torch.tensor([0.0])}, n_clients=4)
    first = controlled(1.0)(start, [sent(0, 2.0, 1.0, samples=9), sent(3, 4.0, 3.0)])
    assert first.model["w"].tolist() == [3.0], "the mean of two clients, whatever their samples"
    assert first.broadcast["c/w"].tolist() == [1.0], "(1 + 3) / 4"
    second = controlled(1.0)(first, [sent(1, 0.0, 2.0)])
    assert second.broadcast["c/w"].tolist() == [1.5], "1 + 2/4"


def test_the_servers_rate_is_of_weights_and_not_of_statistics():
    start = ServerState({"w": torch.tensor([0.0]), "n.running_mean": torch.tensor([0.0])}, n_clients=1)
    update = replace(sent(0, 2.0, 1.0), model={"w": torch.tensor([2.0]), "n.running_mean": torch.tensor([2.0])})
    after = controlled(0.5)(start, [update]).model
    assert (after["w"].item(), after["n.running_mean"].item()) == (1.0, 2.0)


@pytest.mark.parametrize(("shared", "expected"), [({}, 2.0), ({"c/w": torch.tensor([0.5])}, 1.5)])
def test_a_change_is_the_mean_gradient_less_the_servers(shared, expected):
    task = Task(0, 0, range(1), {"w": torch.tensor([1.0]), **shared})
    done = Finished(task, {"w": torch.tensor([0.6])}, {}, np.array([0.1, 0.1]), 0.0, None, None)
    assert change(done)["w"].item() == pytest.approx(expected), "(1 − 0.6)/(2·0.1) − c"
