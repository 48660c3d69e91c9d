from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from equipoise.client.finished import Finished
from equipoise.core.errors import ConfigError
from equipoise.core.values import ClientState, ClientUpdate, Task
from equipoise.engine.local import Local
from equipoise.method.scaffold import ScaffoldOptions, scaffold
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from equipoise.server.merge import ServerState
from equipoise.server.optimise import trainable
from tests.conftest import one_shot, records, tiny

WHOLE = ("client.batch=1000", "client.momentum=0", "client.lr=0.1")
"""One plain step per epoch, along the gradient of all that the client has."""


def trained(config, snapshot=None, step=0) -> list[ClientUpdate]:
    federation = build(config)
    tasks = plan(federation, snapshot or first_snapshot(federation), step)
    return list(Local(federation.site).map(tasks))


def gradient(federation, client: int, model) -> dict[str, torch.Tensor]:
    """Of the client's loss over all its samples."""
    site, network = federation.site, federation.site.network()
    network.load_state_dict(dict(model))
    own = site.train.take(site.indices[client])
    F.cross_entropy(network(site.inputs.prepare(own.inputs)).logits, torch.from_numpy(own.labels)).backward()
    return {name: param.grad for name, param in network.named_parameters()}


@pytest.mark.parametrize("fraction", [1.0, 0.67], ids=["everybody", "two of three"])
def test_the_clients_control_variates_average_to_the_servers(fraction):
    steps = records(tiny("method=scaffold", "rounds=4", f"server.fraction={fraction}"))
    last = steps[-1].snapshot
    for name in trainable(last.server.model):
        mean = sum(own.memory[f"c_k/{name}"] for own in last.own.values()) / 3
        assert mean.abs().max() > 0
        assert torch.allclose(last.broadcast[f"c/{name}"], mean, atol=1e-6), name


def test_after_one_plain_step_a_clients_control_variate_is_its_gradient():
    config = tiny("method=scaffold", *WHOLE)
    federation = build(config)
    for update in trained(config):
        for name, g in gradient(federation, update.client, federation.start).items():
            assert torch.allclose(update.own.memory[f"c_k/{name}"], g, atol=1e-5), name
            assert torch.equal(update.own.report[name], update.own.memory[f"c_k/{name}"]), "it was zero before"


def test_a_step_of_the_second_round_goes_along_the_corrected_gradient():
    config = tiny("method=scaffold", *WHOLE)
    federation, first = build(config), records(config)[0].snapshot
    for update in trained(config, first, 1):
        g = gradient(federation, update.client, first.server.model)
        for name, w in first.server.model.items():
            c, c_k = first.broadcast[f"c/{name}"], first.own[update.client].memory[f"c_k/{name}"]
            assert torch.allclose(update.model[name], w - 0.1 * (g[name] - c_k + c), atol=1e-6), name


def test_the_servers_rate_shortens_its_step():
    whole, half = (records(tiny("method=scaffold", "rounds=1", f"method.lr={lr}"))[0].snapshot for lr in (1.0, 0.5))
    start = build(tiny("method=scaffold")).start
    for name, w in start.items():
        assert torch.allclose(half.server.model[name] - w, 0.5 * (whole.server.model[name] - w), atol=1e-6), name


def test_weights_that_stay_at_home_send_no_control_variate():
    for update in trained(tiny("method=scaffold", "server.personal=[head]")):
        assert all(name.startswith("encoder.") for name in update.own.report)


CURVATURE, CENTRE, STEPS = np.array([1.0, 4.0, 0.5]), np.array([2.0, -1.0, 10.0]), (5, 2, 9)
"""Clients that minimise ½·q_k·(w − m_k)², and how many steps they take in a round."""


def a_round(state: ServerState, memories: dict, momentum: float, lr: float = 0.02) -> ServerState:
    """Steps along the corrected gradient by hand, then the method's own keep, report and merge."""
    method, updates = scaffold(ScaffoldOptions()), []
    for k in range(3):
        memory = memories.get(k) or method.exchange.begin(state.model)
        c, w, m = state.broadcast.get("c/w", torch.zeros(1)), state.model["w"], torch.zeros(1)
        for _ in range(STEPS[k]):
            m = momentum * m + CURVATURE[k] * (w - CENTRE[k]) - memory["c_k/w"] + c
            w = w - lr * m
        task = Task(0, k, range(1), {**state.model, **state.broadcast})
        done = Finished(task, {"w": w}, memory, np.full(STEPS[k], lr), momentum, None, None)
        memories[k] = method.exchange.keep(done)
        updates.append(ClientUpdate(k, 1, {"w": w}, ClientState(report=method.exchange.report(done)), {}))
    return method.merge(state, updates)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_on_quadratics_it_settles_at_the_optimum_of_all_however_many_steps_each_takes(momentum):
    state, memories = ServerState({"w": torch.zeros(1, dtype=torch.float64)}, n_clients=3), {}
    for _ in range(1000):
        state = a_round(state, memories, momentum)
    assert state.model["w"].item() == pytest.approx((CURVATURE * CENTRE).sum() / CURVATURE.sum(), abs=1e-4)


@pytest.mark.parametrize(
    ("make", "setting", "where"),
    [(one_shot, "seed=1", "communication"), (tiny, "client.optimiser=adamw", "client.optimiser")],
)
def test_without_rounds_or_gradients_it_is_refused(make, setting, where):
    with pytest.raises(ConfigError, match="scaffold") as caught:
        make("method=scaffold", setting)
    assert [problem.path for problem in caught.value.problems] == [where]
