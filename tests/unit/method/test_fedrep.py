from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, one_shot, records, tiny

SETTINGS = ("method=fedrep", "client.epochs=3", "method.head_epochs=2")


def group(state, name: str):
    return {key: tensor for key, tensor in state.items() if key.startswith(f"{name}.")}


def updates(*settings: str):
    federation = build(tiny(*settings))
    return list(Local(federation.site).map(plan(federation, first_snapshot(federation), 0)))


def test_the_head_stays_at_home():
    steps, start = records(tiny(*SETTINGS, "rounds=3")), build(tiny(*SETTINGS)).start
    last = steps[-1].snapshot
    assert_same(group(last.server.model, "head"), group(start, "head"))
    assert not torch.equal(last.server.model["encoder.1.weight"], start["encoder.1.weight"])
    heads = [own.model["head.weight"] for own in last.own.values()]
    assert all(own.model.keys() == group(start, "head").keys() for own in last.own.values())
    assert not torch.equal(heads[0], heads[1])


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_the_head_is_trained_first_and_then_held(optimiser):
    """Its two epochs are those of a stage of FedAvg that trains the head alone."""
    how = (f"client.optimiser={optimiser}", "client.lr=0.01")
    stage = "client.stages=[{rounds: 2, groups: [head]}]"
    alone = updates("method=fedavg", "client.epochs=2", stage, *how)
    for ours, theirs in zip(updates(*SETTINGS, *how), alone, strict=True):
        assert_same(ours.own.model, group(theirs.model, "head"))


def test_then_the_encoder_is_trained_from_fresh_buffers():
    """Its epoch is that of a client with the trained head, of which only the encoder is trained."""
    federation = build(tiny(*SETTINGS))
    from_head = build(tiny("method=fedavg", "client.epochs=3", "client.stages=[{rounds: 2, groups: [encoder]}]"))
    snapshot = first_snapshot(federation)
    for ours in Local(federation.site).map(plan(federation, snapshot, 0)):
        (task,) = [task for task in plan(from_head, snapshot, 0) if task.client == ours.client]
        own = type(task.own)(model=ours.own.model)
        (theirs,) = Local(from_head.site).map([type(task)(0, task.client, range(2, 3), task.shared, own)])
        assert_same({**ours.model, **ours.own.model}, theirs.model)


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        (("method=fedrep", "client.epochs=2", "method.head_epochs=2"), "client.epochs"),
        ((*SETTINGS, "client.stages=[{rounds: 1, groups: [head]}]"), "client.stages"),
        ((*SETTINGS, "model.layers=0"), "model"),
    ],
    ids=["no epoch left for the encoder", "stages", "nothing in the encoder"],
)
def test_what_cannot_be_trained_so_is_refused(settings, where):
    with pytest.raises(ConfigError, match="fedrep") as caught:
        build(tiny(*settings))
    assert caught.value.where == where


def test_without_rounds_it_is_refused():
    with pytest.raises(ConfigError, match="fedrep"):
        one_shot("method=fedrep")
