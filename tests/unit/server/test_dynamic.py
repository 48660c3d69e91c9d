from __future__ import annotations

import torch

from equipoise.server.dynamic import dynamic_mean
from equipoise.server.merge import ServerState
from tests.conftest import update


def w(value: float) -> dict[str, torch.Tensor]:
    return {"w": torch.tensor([value])}


def test_two_rounds_by_hand():
    merge, start = dynamic_mean(0.5), ServerState(w(1.0), n_clients=4)
    first = merge(start, [update(0, 1, w(2.0)), update(1, 9, w(4.0))])
    # h = 0 − (0.5/4)·(1 + 3) = −0.5; w = 3 + 0.5/0.5
    assert (first.memory["h/w"].item(), first.model["w"].item()) == (-0.5, 4.0)
    second = merge(first, [update(2, 1, w(2.0))])
    # h = −0.5 − (0.5/4)·(2 − 4) = −0.25; w = 2 + 0.25/0.5
    assert (second.memory["h/w"].item(), second.model["w"].item()) == (-0.25, 2.5)


def test_statistics_of_batch_norm_are_averaged():
    state = ServerState({"n.running_var": torch.tensor([1.0])}, n_clients=2)
    after = dynamic_mean(0.1)(state, [update(k, 1, {"n.running_var": torch.tensor([2.0 * k])}) for k in range(2)])
    assert after.model["n.running_var"].tolist() == [1.0]
    assert after.memory == {}
