from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.core.values import n_bytes
from equipoise.engine.local import Local
from equipoise.engine.messages import results_message
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, numbers, one_shot, records, tiny

SETTINGS = ("method=fedbn", "model=cnn", "model.width=4", "model.features=8", "model.norm=batch", "rounds=3")
LAYERS = ("encoder.1.", "encoder.5.")


@pytest.fixture(scope="module")
def run():
    return records(tiny(*SETTINGS))


def of_batch_norm(state):
    return {name: tensor for name, tensor in state.items() if name.startswith(LAYERS)}


def test_weights_statistics_and_counters_of_batch_norm_never_reach_the_server(run):
    start = of_batch_norm(build(tiny(*SETTINGS)).start)
    assert len(start) == 2 * 5, "weight, bias, mean, variance, counter of both layers"
    for step in run:
        assert_same(of_batch_norm(step.snapshot.server.model), start)


def test_no_update_carries_any_of_it():
    """Neither the update nor the message in which it travels; what the client keeps is a part of its own."""
    federation = build(tiny(*SETTINGS))
    for result in Local(federation.site).map(plan(federation, first_snapshot(federation), 0)):
        assert not of_batch_norm(result.model)
        assert len(of_batch_norm(result.own.model)) == 2 * 5
        header, tensors = results_message([replace(result, own=replace(result.own, model={}, handle="kept"))])
        assert not [name for name in tensors if any(layer in name for layer in LAYERS)], header


def test_every_client_goes_on_with_its_own(run):
    own = [state.model for state in run[-1].snapshot.own.values()]
    assert all(model.keys() == of_batch_norm(model).keys() for model in own)
    assert len({tuple(model["encoder.1.running_mean"].tolist()) for model in own}) == 3
    first, last = (step.snapshot.own[0].model["encoder.1.num_batches_tracked"].item() for step in (run[0], run[-1]))
    assert last == 3 * first > 0


def test_everything_else_is_averaged(run):
    before = build(tiny(*SETTINGS)).start
    after = run[-1].snapshot.server.model
    weights = [name for name in before if name.endswith("weight") and not name.startswith(LAYERS)]
    assert len(weights) == 4
    assert not any(torch.equal(after[name], before[name]) for name in weights)


def test_only_the_rest_crosses_the_network(run):
    start = build(tiny(*SETTINGS)).start
    common = n_bytes(start) - n_bytes(of_batch_norm(start))
    assert numbers(run)[1, None, "bytes/up"] == numbers(run)[1, None, "bytes/down"] == 3 * common


def test_a_model_without_batch_norm_is_refused():
    with pytest.raises(ConfigError, match="has none") as caught:
        build(tiny("method=fedbn"))
    assert caught.value.where == "model"


@pytest.mark.parametrize("make", [lambda *s: tiny(*s, "server.predict=parameter-average"), one_shot])
def test_neither_one_shot_nor_a_merged_predictor(make):
    with pytest.raises(ConfigError, match="fedbn"):
        make(*SETTINGS[:-1])
