from __future__ import annotations

from math import log

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, numbers, one_shot, records, tiny

NORMED = ("model=cnn", "model.width=4", "model.features=8", "model.norm=batch")


def test_before_a_client_has_a_model_of_its_own_the_term_is_log_2():
    found = numbers(records(tiny("method=moon", "balance=constant", "balance.lam=1", "client.lr=0.05")))
    for client in range(3):
        assert found[0, client, "loss/align"] == pytest.approx(log(2), abs=1e-6)
        assert abs(found[1, client, "loss/align"] - log(2)) > 1e-4


@pytest.mark.parametrize("model", [(), NORMED], ids=["perceptron", "BatchNorm"])
def test_without_weight_it_is_fedavg_to_the_last_bit(model):
    """Other models look at every batch; neither the network nor its statistics may notice."""
    settings = (*model, "rounds=3")
    ours = records(tiny("method=moon", "balance=constant", "balance.lam=0", *settings))[-1].snapshot
    assert_same(ours.server.model, records(tiny("method=fedavg", *settings))[-1].snapshot.server.model)


def test_what_the_server_sent_and_what_a_client_kept_are_as_they_were():
    config = tiny("method=moon", "balance=constant", *NORMED)
    federation, snapshot = build(config), records(config)[0].snapshot
    tasks = plan(federation, snapshot, 1)
    before = {name: tensor.clone() for name, tensor in tasks[0].shared.items()}
    kept = {name: tensor.clone() for name, tensor in tasks[0].own.memory.items()}
    list(Local(federation.site).map(tasks))
    assert_same(tasks[0].shared, before)
    assert_same(tasks[0].own.memory, kept)


def test_a_client_keeps_the_model_that_it_ended_with():
    federation = build(tiny("method=moon", "balance=constant"))
    for update in Local(federation.site).map(plan(federation, first_snapshot(federation), 0)):
        kept = {name.removeprefix("previous/"): tensor for name, tensor in update.own.memory.items()}
        assert_same(kept, update.model)


@pytest.mark.parametrize("balance", ["annealed", "decoupled-hinge", "equilibrium"])
def test_any_policy_may_choose_its_weight(balance):
    steps = records(tiny("method=moon", f"balance={balance}"))
    assert all(torch.isfinite(tensor).all() for tensor in steps[-1].snapshot.server.model.values())
    assert (1, 0, "lam/used") in numbers(steps)


def test_without_rounds_it_is_refused():
    with pytest.raises(ConfigError, match="moon"):
        one_shot("method=moon")
