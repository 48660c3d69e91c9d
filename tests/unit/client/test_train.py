from __future__ import annotations

import re
from dataclasses import replace
from typing import NoReturn

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from equipoise.balance.policy import Balance
from equipoise.balance.schedule import schedule
from equipoise.client.batches import batches
from equipoise.client.recipe import Recipe
from equipoise.client.samples import SampleFeed, SampleWork
from equipoise.client.train import train
from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Result, Samples, Task, Weighed
from equipoise.data.inputs import PixelInputs
from equipoise.engine.messages import results_message, results_of, tasks_message, tasks_of
from equipoise.method.resolve import resolve
from equipoise.models.build import build_model, state_of
from tests.conftest import assert_same, assert_same_update, one_shot, tiny, untouched_rng

INPUTS = PixelInputs((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
NARROW = {"mlp": (), "cnn": ("model.width=4", "model.features=8"), "resnet8": ("model.width=4",)}


@pytest.fixture
def images(rng) -> Samples:
    """45 images of four classes: five batches of eight and one of five."""
    return Samples(rng.integers(0, 256, (45, 1, 8, 8), dtype=np.uint8), rng.integers(0, 4, 45))


def recipe_of(config: Config) -> Recipe:
    method = resolve(config)
    model = build_model(config.model, (3, 8, 8), 4, config.seed)
    work = SampleWork(config, config.clock, Samples(np.empty(0), np.empty(0)), INPUTS)
    return Recipe(config, model, method.objective, method.balance, work, no_feed)


def no_feed(task: Task) -> NoReturn:
    raise AssertionError("the test gives its own images")


def result_of(recipe: Recipe, images: Samples, task: Task, report=None) -> Result:
    work, counts = SampleWork(recipe.config, recipe.work.clock, images, INPUTS), np.bincount(images.labels, minlength=4)
    feed = SampleFeed(work, task, np.arange(len(images)), counts, task.own.memory)
    (result,) = train(replace(recipe, work=work, feed=lambda _: feed, report=report), [task])
    return result


def trained(recipe: Recipe, images: Samples, task: Task, report=None) -> ClientUpdate:
    result = result_of(recipe, images, task, report)
    assert isinstance(result, ClientUpdate)
    return result


def first_task(recipe: Recipe, epochs: range, client: int = 2, step: int = 0) -> Task:
    return Task(step, client, epochs, state_of(recipe.model))


def bare_loop(config: Config, images: Samples, epochs: range, client: int):
    """The same training as everybody writes it; the losses of its steps, and the weights."""
    model = build_model(config.model, (3, 8, 8), 4, config.seed)
    options, losses = config.client, []
    if options.optimiser == "sgd":
        optimiser = torch.optim.SGD(model.parameters(), options.lr, options.momentum, weight_decay=options.weight_decay)
    else:
        betas = (options.momentum, 0.999)
        optimiser = torch.optim.AdamW(model.parameters(), options.lr, betas, weight_decay=options.weight_decay)
    model.train()
    for epoch in epochs:
        for index in batches(len(images), options.batch, config.seed, epoch, client):
            batch = INPUTS.prepare(images.inputs[index])
            loss = F.cross_entropy(model(batch).logits, torch.from_numpy(images.labels[index]))
            optimiser.zero_grad()
            loss.backward()
            if options.clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
            optimiser.step()
            losses.append(loss.item())
    return losses, model.state_dict()


@pytest.mark.parametrize(
    "extra", [(), ("client.clip=0.1",), ("client.weight_decay=0.01",), ("client.optimiser=adamw",)]
)
@pytest.mark.parametrize("model", ["mlp", "cnn", "resnet8"])
def test_the_loop_is_a_bare_loop_to_the_last_bit(images, model, extra, seed):
    config = tiny(f"seed={seed}", "client.batch=8", "client.lr=0.01", *NARROW[model], *extra, model=model)
    recipe = recipe_of(config)
    update = trained(recipe, images, first_task(recipe, range(1, 3)))
    losses, state = bare_loop(config, images, range(1, 3), client=2)
    assert_same(update.model, {name: tensor.contiguous() for name, tensor in state.items()})
    assert update.metrics["steps"] == len(losses) == 2 * 6
    assert update.metrics["loss/base"] == pytest.approx(sum(losses) / 12, rel=1e-12)
    assert update.metrics["samples"] == update.samples == 45
    assert list(update.counts) == np.bincount(images.labels, minlength=4).tolist()


@pytest.mark.parametrize("clip", [0.05, 1e6])
def test_one_clipped_step_by_hand(images, clip):
    config = tiny("client.batch=100", "client.lr=0.5", "client.momentum=0", f"client.clip={clip}")
    recipe = recipe_of(config)
    start = state_of(recipe.model)
    update = trained(recipe, images, first_task(recipe, range(1)))
    model = build_model(config.model, (3, 8, 8), 4, config.seed)
    order = batches(45, 100, config.seed, 0, 2)[0]
    batch = INPUTS.prepare(images.inputs[order])
    F.cross_entropy(model(batch).logits, torch.from_numpy(images.labels[order])).backward()
    norm = sum(parameter.grad.square().sum().item() for parameter in model.parameters()) ** 0.5
    factor = min(1, clip / norm)
    for name, parameter in model.named_parameters():
        expected = start[name] - 0.5 * factor * parameter.grad
        assert torch.allclose(update.model[name], expected, rtol=1e-4, atol=1e-7), name
    assert update.metrics["grad/norm"] == pytest.approx(norm, rel=1e-5)
    assert update.metrics["grad/clip"] == pytest.approx(factor, rel=1e-5)


def by_wire(recipe: Recipe, images: Samples, task: Task) -> ClientUpdate:
    """The same client on another machine."""
    (sent,) = tasks_of(decode(encode(*tasks_message([task]))), task.shared)
    (back,) = results_of(decode(encode(*results_message([trained(recipe, images, sent)]))))
    assert isinstance(back, ClientUpdate)
    return back


@pytest.mark.parametrize("travel", [trained, by_wire], ids=["in place", "through messages"])
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("model", ["cnn", "resnet8"])
def test_a_checkpoint_only_observes(images, model, optimiser, travel):
    """Four epochs in one task are two tasks of two epochs, to the last bit."""
    config = one_shot(f"client.optimiser={optimiser}", "client.lr=0.01", "client.batch=8", *NARROW[model], model=model)
    recipe = recipe_of(config)
    start = first_task(recipe, range(4))
    whole = trained(recipe, images, start)
    half = travel(recipe, images, replace(start, epochs=range(2)))
    rest = travel(recipe, images, Task(1, 2, range(2, 4), start.shared, half.own))
    assert_same(rest.model, whole.model)
    assert_same(rest.own.optimiser, whole.own.optimiser)
    assert any(name.endswith("running_var") for name in whole.model) == (model == "resnet8")


def test_a_client_without_a_model_of_its_own_starts_from_the_servers(images):
    recipe = recipe_of(tiny())
    task = first_task(recipe, range(1))
    fresh = trained(recipe, images, task)
    assert_same_update(trained(recipe, images, task), fresh)  # what the model held before does not matter
    moved = {name: tensor + 1 for name, tensor in task.shared.items()}
    own = trained(recipe, images, replace(task, shared=moved, own=ClientState(model=task.shared)))
    assert_same(own.model, fresh.model)


def test_the_update_does_not_change_when_the_model_goes_on(images):
    recipe = recipe_of(tiny())
    update = trained(recipe, images, first_task(recipe, range(1)))
    before = {name: tensor.clone() for name, tensor in update.model.items()}
    trained(recipe, images, first_task(recipe, range(1)))
    assert_same(update.model, before)
    assert update.own.model is update.model


def test_a_number_that_is_not_finite_stops_the_client_with_term_step_and_place(images):
    recipe = recipe_of(tiny("client.lr=1e30", "client.batch=8"))
    result = result_of(recipe, images, first_task(recipe, range(1), step=3))
    assert isinstance(result, ClientFailure)
    assert (result.client, result.kind) == (2, "non-finite")
    assert re.match(r"loss/base is (nan|inf) at local step 1; the step before it had", result.error)
    assert "where: checkpoint 4, client 2" in result.error  # counted from one, as people do
    assert "client.lr" in result.error
    assert "loss/base 1." in result.error  # near log 4, before anything was learned


def test_a_start_that_is_not_finite_stops_the_client_at_once(images):
    recipe = recipe_of(tiny())
    task = first_task(recipe, range(1))
    poisoned = {name: torch.full_like(tensor, float("nan")) for name, tensor in task.shared.items()}
    result = result_of(recipe, images, replace(task, shared=poisoned))
    assert isinstance(result, ClientFailure)
    assert "loss/base is nan at local step 0; the step before it had nothing: the first" in result.error


def test_two_views_are_deterministic_and_not_the_images_themselves(images):
    recipe = recipe_of(tiny("client.augment=two-view", "client.batch=16"))
    task = first_task(recipe, range(1))
    with untouched_rng():
        first = trained(recipe, images, task)
    assert_same_update(trained(recipe, images, task), first)
    assert first.metrics["steps"] == 3  # 16 + 16 + 13 images, each seen twice in its batch
    plain = trained(recipe_of(tiny("client.batch=16")), images, task)
    assert not torch.equal(first.model["head.weight"], plain.model["head.weight"])


@pytest.mark.parametrize("model", ["mlp", "resnet8"])
def test_training_leaves_the_global_generators_alone(images, model):
    recipe = recipe_of(tiny(*NARROW[model], model=model))
    with untouched_rng():
        trained(recipe, images, first_task(recipe, range(2)))


def test_another_client_or_epoch_sees_another_order(images):
    recipe = recipe_of(tiny())
    results = [
        trained(recipe, images, first_task(recipe, epochs, client)).model["head.weight"]
        for client, epochs in ((0, range(1)), (1, range(1)), (0, range(1, 2)))
    ]
    assert not torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


def spying(moments: list) -> Balance:
    """A policy with one parameter that counts its steps in place of learning."""

    def weigh(losses, policy, moment):
        moments.append((moment, policy["s"].item()))
        return Weighed(losses.base, None, lam=0.0)

    return Balance(lambda counts: {"s": torch.tensor(float(counts.sum()))}, weigh)


def test_a_policy_is_told_the_progress_of_the_whole_run_and_the_clients_labels(images):
    moments: list = []
    recipe = replace(recipe_of(tiny("rounds=2", "client.batch=20", "client.epochs=2")), balance=spying(moments))
    update = trained(recipe, images, first_task(recipe, range(2, 4), step=1))
    # the second of two rounds of two epochs, three batches each: 20 + 20 + 5
    assert [moment.progress for moment, _ in moments] == [(e + b / 3) / 4 for e in (2, 3) for b in range(3)]
    assert [moment.epoch for moment, _ in moments] == [2, 2, 2, 3, 3, 3]
    assert {tuple(moment.counts) for moment, _ in moments} == {tuple(np.bincount(images.labels, minlength=4))}
    assert update.own.policy["s"].item() == 45


def test_a_policys_parameters_are_the_clients_and_travel_with_it(images):
    moments: list = []
    recipe = replace(recipe_of(tiny()), balance=spying(moments))
    task = first_task(recipe, range(1))
    own = ClientState(model=task.shared, policy={"s": torch.tensor(0.5)})
    update = trained(recipe, images, replace(task, own=own))
    assert {s for _, s in moments} == {0.5}
    assert update.own.policy["s"].item() == 0.5


def test_fedprox_records_what_it_weighed(images):
    config = tiny("method=fedprox", "method.mu=0.5", "client.batch=100")
    recipe = recipe_of(config)
    task = first_task(recipe, range(1))
    moved = {name: tensor + 0.5 for name, tensor in task.shared.items()}
    update = trained(recipe, images, replace(task, own=ClientState(model=moved)))
    n_weights = sum(tensor.numel() for tensor in task.shared.values())
    assert update.metrics["loss/align"] == pytest.approx(n_weights * 0.25 / 2, rel=1e-4)
    assert (update.metrics["lam"], update.metrics["lam/used"], update.metrics["scale/base"]) == (0.5, 0.5, 1.0)


def test_what_the_objective_remembers_comes_back_at_the_next_step_and_in_the_next_task(images):
    heard: list = []
    recipe = recipe_of(tiny("client.batch=20"))

    def counting(net, batch, received, moment):
        heard.append(batch.recalled["n"].item() if "n" in batch.recalled else 0)
        return replace(recipe.objective(net, batch, received, moment), memory={"n": torch.tensor(heard[-1] + 1)})

    spied = replace(recipe, objective=counting)
    first = trained(spied, images, first_task(recipe, range(1)))
    assert first.own.memory == {"n": torch.tensor(3)}
    again = trained(spied, images, replace(first_task(recipe, range(1, 2)), own=first.own))
    assert heard == [0, 1, 2, 3, 4, 5]  # three batches each: 20 + 20 + 5
    assert again.own.memory["n"].item() == 6
    assert trained(recipe, images, first_task(recipe, range(1))).own.memory == {}


def test_a_client_tells_of_its_own_images_what_its_trained_model_sees(images):
    def report(done):
        (seen,), labels = done.own().outputs, done.own().labels
        return {"features": seen.features, "logits": seen.logits, "labels": labels}

    recipe = recipe_of(tiny("evaluate.batch=7"))
    update = trained(recipe, images, first_task(recipe, range(1)), report)
    recipe.model.load_state_dict(dict(update.model))
    seen = recipe.model.eval()(INPUTS.prepare(images.inputs))
    assert torch.allclose(update.own.report["features"], seen.features, atol=1e-6)
    assert torch.allclose(update.own.report["logits"], seen.logits, atol=1e-6)
    assert update.own.report["labels"].tolist() == images.labels.tolist()
    assert trained(recipe_of(tiny()), images, first_task(recipe, range(1))).own.report == {}


def test_a_method_keeps_for_the_next_task_what_it_makes_of_the_finished_one(images):
    """Beside what the objective remembers, and with the task and the learning rate of every step to make it from."""
    recipe = recipe_of(tiny("client.batch=20", "client.lr=0.5", "rounds=4", "client.schedule=cosine"))
    kept: list = []

    def keep(done):
        kept.append(done)
        return {"moved": done.model["head.bias"] - done.start["head.bias"]}

    def remembering(net, batch, received, moment):
        return replace(recipe.objective(net, batch, received, moment), memory={"n": torch.ones(1)})

    task = first_task(recipe, range(2, 4), step=2)
    update = trained(replace(recipe, objective=remembering, keep=keep, keeps_buffers=False), images, task)
    assert update.own.memory.keys() == {"n", "moved"}
    assert torch.equal(update.own.memory["moved"], update.model["head.bias"] - task.shared["head.bias"])
    assert update.own.report == {}
    (done,) = kept
    assert done.task == task
    assert done.memory == {"n": torch.ones(1)}
    third, fourth = (0.5 * schedule("cosine", place / 4) for place in (2, 3))  # of four epochs, three steps each
    assert done.rates.tolist() == pytest.approx([third] * 3 + [fourth] * 3)
    assert done.model is update.model


def test_no_epochs_are_no_training(images):
    recipe = recipe_of(tiny())
    update = trained(recipe, images, first_task(recipe, range(0)))
    assert_same(update.model, state_of(build_model(recipe.config.model, (3, 8, 8), 4, recipe.config.seed)))
    assert update.metrics.keys() == {"steps", "samples", "seconds"}
    assert update.metrics["steps"] == 0


def test_what_goes_down_beside_the_model_is_not_loaded_into_it(images):
    recipe = recipe_of(tiny())
    task = first_task(recipe, range(1))
    given_more = trained(recipe, images, replace(task, shared={**task.shared, "means.features": torch.ones(4, 16)}))
    assert_same_update(given_more, trained(recipe, images, task))
