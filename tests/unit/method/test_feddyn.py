from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.client.finished import Finished
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.core.values import ClientState, ClientUpdate, Task
from equipoise.method.feddyn import FeddynOptions, feddyn
from equipoise.server.merge import ServerState
from tests.conftest import one_shot, records, tiny

ALPHA = 0.7
CURVATURE, CENTRE = np.array([1.0, 4.0, 0.5]), np.array([2.0, -1.0, 10.0])
"""Clients that minimise ½·q_k·(w − m_k)²."""
OPTIMUM = (CURVATURE * CENTRE).sum() / CURVATURE.sum()


def round_of(state: ServerState, memories: dict, clients) -> ServerState:
    """Each client's exact minimum of ½·q(w − m)² + (α/2)(w − w_t)² − h·w, then the method's own keep and merge."""
    exchange, merge, updates = feddyn(FeddynOptions(alpha=ALPHA)).exchange, feddyn(FeddynOptions(alpha=ALPHA)).merge, []
    for k in clients:
        memory = memories.get(k) or exchange.begin(state.model)
        w_t, h = state.model["w"], memory["h_k/w"]
        w = (CURVATURE[k] * CENTRE[k] + ALPHA * w_t + h) / (CURVATURE[k] + ALPHA)
        done = Finished(Task(0, k, range(1), state.model), {"w": w}, memory, np.array([0.1]), 0.0, None, None)
        memories[k] = exchange.keep(done)
        updates.append(ClientUpdate(k, 1, {"w": w}, ClientState(), {}))
    return merge(state, updates)


@pytest.mark.parametrize("taking_part", [3, 2], ids=["everybody", "two of three"])
def test_on_quadratics_it_settles_at_the_optimum_of_all(taking_part):
    state, memories, draw = (
        ServerState({"w": torch.zeros(1, dtype=torch.float64)}, n_clients=3),
        {},
        np.random.default_rng(0),
    )
    for _ in range(2000):
        state = round_of(state, memories, sorted(draw.choice(3, taking_part, replace=False)))
    assert state.model["w"].item() == pytest.approx(OPTIMUM, abs=1e-4)
    for k, memory in memories.items():
        gradient = CURVATURE[k] * (OPTIMUM - CENTRE[k])
        assert memory["h_k/w"].item() == pytest.approx(gradient, abs=1e-3), (
            "what is kept is the client's gradient there"
        )


def test_the_mean_of_the_clients_does_not_settle_there():
    assert pytest.approx(CENTRE.mean(), abs=0.1) != OPTIMUM


def test_the_servers_is_the_mean_of_what_clients_keep():
    last = records(tiny("method=feddyn", "rounds=3", "server.fraction=0.67"))[-1].snapshot
    for name in last.server.model:
        mean = sum(own.memory[f"h_k/{name}"] for own in last.own.values()) / 3
        assert torch.allclose(last.server.memory[f"h/{name}"], mean, atol=1e-6), name


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="feddyn"):
        one_shot("method=feddyn")
    with pytest.raises(ConfigError, match=r"method\.alpha"):
        load("feddyn", ["method.alpha=0"])
