"""What every λ policy promises, through the training loop itself."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np
import pytest
import torch

from equipoise.balance.policy import Balance
from equipoise.client.recipe import Recipe
from equipoise.client.samples import SampleFeed, SampleWork
from equipoise.client.train import train
from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode
from equipoise.core.registry import BALANCES
from equipoise.core.values import ClientUpdate, Moment, Samples, Task
from equipoise.data.inputs import PixelInputs
from equipoise.engine.local import Local
from equipoise.engine.messages import results_message, results_of, tasks_message, tasks_of
from equipoise.method.resolve import resolve
from equipoise.models.build import build_model, state_of
from equipoise.models.heads import ANCHORS
from equipoise.objective.compose import Batch, Net
from equipoise.run.build import build
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import federate
from tests.conftest import assert_same, nobody, numbers, one_shot, records, tiny, under

INPUTS = PixelInputs((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
LR = 0.05
METHOD = ("method=etf-align", "model.hidden=16")


@pytest.fixture(params=BALANCES.names())
def name(request) -> str:
    return request.param


@pytest.fixture
def images(rng) -> Samples:
    """40 images of four of the five classes."""
    return Samples(rng.integers(0, 256, (40, 1, 8, 8), dtype=np.uint8), rng.integers(0, 4, 40))


def recipe_of(config: Config) -> Recipe:
    method = resolve(config)
    assert method.balance is not None
    model = build_model(config.model, (3, 8, 8), 5, config.seed, method.head)
    work = SampleWork(config, config.clock, Samples(np.empty(0), np.empty(0)), INPUTS)
    return Recipe(config, model, method.objective, method.balance, work, no_feed)


def no_feed(task: Task) -> NoReturn:
    raise AssertionError("the test gives its own images")


def counts(images: Samples) -> np.ndarray:
    return np.bincount(images.labels, minlength=5)


def test_the_networks_gradient_is_made_of_the_recorded_numbers(name, images):
    """w − w' = lr·scale/base·(∇L_b + lam/used·∇L_a), in the second of two epochs of one step each."""
    plain = ("client.batch=40", f"client.lr={LR}", "client.momentum=0", "client.clip=null")
    recipe = recipe_of(one_shot(*METHOD, *under(name), *plain, epochs=2))
    shared = recipe.device.home(state_of(recipe.model))
    first = in_place(recipe, Task(0, 0, range(1), shared), images)
    second = in_place(recipe, Task(1, 0, range(1, 2), shared, replace(first.own, optimiser={})), images)
    seen = second.metrics
    assert seen["steps"] == 1

    recipe.model.cpu().load_state_dict(dict(first.model))
    net = Net(recipe.model, dict(recipe.model.named_parameters()))
    batch = Batch(INPUTS.prepare(images.inputs), torch.from_numpy(images.labels))
    losses = recipe.objective(net, batch, shared, Moment(0.5, counts(images)))
    weights = list(net.params.values())
    of_base = torch.autograd.grad(losses.base, weights, retain_graph=True)
    of_align = torch.autograd.grad(losses.align, weights, allow_unused=True)
    assert seen["loss/base"] == pytest.approx(losses.base.item(), rel=1e-4)
    assert seen["loss/align"] == pytest.approx(losses.align.item(), rel=1e-4)
    for key, base, align in zip(net.params, of_base, of_align, strict=True):
        expected = base if align is None else base + seen["lam/used"] * align
        moved = (first.model[key] - second.model[key]) / LR
        assert torch.allclose(moved, seen["scale/base"] * expected, rtol=1e-3, atol=2e-4), key
    assert seen["lam"] >= 0
    assert seen["lam/used"] >= 0
    assert seen["scale/base"] > 0
    assert {f"{key}/last" for key in ("lam", "schedule", "lam/used", "scale/base")} <= seen.keys()
    assert torch.equal(second.model[ANCHORS], shared[ANCHORS])


def by_wire(recipe: Recipe, task: Task, images: Samples) -> ClientUpdate:
    (sent,) = tasks_of(decode(encode(*tasks_message([task]))), task.shared)
    (back,) = results_of(decode(encode(*results_message([in_place(recipe, sent, images)]))))
    assert isinstance(back, ClientUpdate)
    return back


def in_place(recipe: Recipe, task: Task, images: Samples) -> ClientUpdate:
    work = replace(recipe.work, train=images)
    feed = SampleFeed(work, task, np.arange(len(images)), counts(images), task.own.memory)
    (result,) = train(replace(recipe, work=work, feed=lambda _: feed), [task])
    assert isinstance(result, ClientUpdate)
    return result


@pytest.mark.parametrize("travel", [in_place, by_wire])
def test_two_tasks_of_one_epoch_are_one_task_of_two(name, images, travel):
    recipe = recipe_of(one_shot(*METHOD, *under(name), "client.batch=8", "client.clip=1.0", epochs=2))
    start = Task(0, 0, range(2), recipe.device.home(state_of(recipe.model)))
    whole = in_place(recipe, start, images)
    half = travel(recipe, replace(start, epochs=range(1)), images)
    rest = travel(recipe, Task(1, 0, range(1, 2), start.shared, half.own), images)
    assert_same(rest.model, whole.model)
    assert_same(rest.own.optimiser, whole.own.optimiser)
    assert_same(rest.own.policy, whole.own.policy)
    assert all(not value.requires_grad for value in whole.own.policy.values())
    is_stateless = BALANCES.find(name).make(BALANCES.find(name).options()).start(counts(images)) == {}
    assert (whole.own.policy == {}) == is_stateless


@pytest.mark.parametrize("communication", ["rounds", "one-shot"])
def test_a_run_that_goes_on_from_its_checkpoint_is_never_having_stopped(name, communication):
    if (name, communication) == ("progressive", "rounds"):
        pytest.skip("its path leads from the start of the run, which rounds replace")
    make = tiny if communication == "rounds" else one_shot
    federation = build(make(*METHOD, *under(name)))
    whole = records(federation)
    again = unpack(pack(whole[0].snapshot))
    rest = list(federate(federation, Local(federation.site), again, 1, nobody))
    assert numbers(rest) == {key: value for key, value in numbers(whole).items() if key[0] > 0}
    assert torch.equal(rest[-1].snapshot.server.model[ANCHORS], federation.start[ANCHORS])


def test_a_policy_asks_nothing_but_the_label_counts_to_start(name):
    entry = BALANCES.find(name)
    balance = entry.make(entry.options())
    assert isinstance(balance, Balance)
    for labels in ([1, 0, 0], [3, 3, 3], [0, 0, 9]):
        start = balance.start(np.array(labels))
        assert all(torch.isfinite(value) for value in start.values())


def test_a_policy_in_rounds_keeps_its_parameters_from_round_to_round():
    snapshots = [record.snapshot for record in records(tiny(*METHOD, "balance=decoupled", "rounds=3"))]
    values = [snapshot.own[0].policy["a"].item() for snapshot in snapshots]
    assert len(set(values)) == 3
    assert all(snapshot.own[0].model == {} for snapshot in snapshots)


def test_the_policy_does_not_feel_the_networks_clip(images):
    """σ of a decoupled policy move the same however hard the network's gradient is cut."""
    updates = []
    for most in ("null", "1e-6"):
        one_step = ("client.batch=40", f"client.clip={most}")
        recipe = recipe_of(one_shot(*METHOD, "balance=decoupled", *one_step, epochs=1, checkpoints=1))
        updates.append(in_place(recipe, Task(0, 0, range(1), recipe.device.home(state_of(recipe.model))), images))
    assert updates[1].metrics["grad/clip"] < 1e-3
    assert_same(updates[0].own.policy, updates[1].own.policy)
