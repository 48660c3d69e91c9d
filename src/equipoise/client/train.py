"""The one training loop. A client minimises base + λ·align.

    for each epoch, for each batch:   losses = objective(net, batch, received)
                                      weighed = balance.weigh(losses, policy, moment)
                                      w ← w − lr·clip(∇ weighed.network)

A number that is not finite stops the client at once; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import torch

from equipoise.balance.policy import Balance
from equipoise.client.batches import batches
from equipoise.client.gradients import EVERY, sampled
from equipoise.client.optimiser import clipped, descend, restored, start_buffers
from equipoise.client.policy import gradients, leaves, stepped
from equipoise.client.trace import Numbers, Trace, numbers
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import NonFinite
from equipoise.core.streams import stream_seed
from equipoise.core.values import ClientState, ClientUpdate, Images, Labels, Losses, Moment, State, Task
from equipoise.data.augment import normalise, two_views
from equipoise.models.build import contiguous_copies
from equipoise.models.classifier import Classifier
from equipoise.models.look import Lens, Summary, look
from equipoise.objective.compose import Batch, Net, Objective


@dataclass(frozen=True)
class Recipe:
    """What every client of a run has in common."""

    config: Config
    clock: Clock
    model: Classifier
    objective: Objective
    balance: Balance
    mean: tuple[float, ...]
    std: tuple[float, ...]
    tell: Summary | None = None


def train(recipe: Recipe, task: Task, images: Images, counts: Labels) -> ClientUpdate:
    """Train one client through the epochs of its task, from its own model if it has one, else from the server's."""
    started = perf_counter()
    model, options = recipe.model, recipe.config.client
    names = model.state_dict().keys()
    model.load_state_dict({name: (task.own.model or task.shared)[name] for name in names})
    model.train()
    net = Net(model, dict(model.named_parameters()))
    buffers = restored(task.own.optimiser, start_buffers(net.params, options))
    policy, memory = task.own.policy or recipe.balance.start(counts), task.own.memory
    params, trace = list(net.params.values()), Trace()
    with torch.random.fork_rng(devices=[]):
        for number, moment, batch in _batches(recipe, task, images, counts):
            losses = recipe.objective(net, batch, {**task.shared, **memory}, moment)
            policy = leaves(recipe.balance, policy)
            weighed = recipe.balance.weigh(losses, policy, moment)
            extra = sampled(losses, params) if number % EVERY == 0 else {}
            model.zero_grad()
            weighed.network.backward()  # type: ignore[no-untyped-call]
            own = gradients(weighed, policy)
            norm, factor = clipped(params, own, options.clip, recipe.balance.learning)
            seen = numbers(losses, weighed, norm, factor) | extra
            _refuse_non_finite(seen, trace, task)
            descend(net.params, buffers, options)
            policy = weighed.remembered or stepped(policy, own, recipe.balance.learning, factor)
            memory = losses.memory
            trace.add(seen)
    return ClientUpdate(
        client=task.client,
        samples=len(images),
        model=(state := contiguous_copies(model.state_dict())),
        own=ClientState(state, *map(contiguous_copies, (buffers, policy, memory, _told(recipe, images)))),
        metrics={
            **trace.means(),
            "steps": trace.steps,
            "samples": len(images),
            "seconds": perf_counter() - started,
        },
        counts=counts.tolist(),
    )


def first_losses(recipe: Recipe, task: Task, images: Images, counts: Labels) -> Losses:
    """What a client's first batch would cost; nothing is trained."""
    recipe.model.load_state_dict({name: task.shared[name] for name in recipe.model.state_dict()})
    recipe.model.train()
    net = Net(recipe.model, dict(recipe.model.named_parameters()))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        _, moment, batch = next(_batches(recipe, task, images, counts))
        return recipe.objective(net, batch, task.shared, moment)


def _told(recipe: Recipe, images: Images) -> State:
    """What the method has clients report of their own images."""
    if recipe.tell is None:
        return {}
    lens = Lens(recipe.mean, recipe.std, recipe.config.evaluate.batch)
    return recipe.tell([look(recipe.model, images.pixels, lens)], torch.from_numpy(images.labels))


def _batches(recipe: Recipe, task: Task, images: Images, counts: Labels) -> Iterator[tuple[int, Moment, Batch]]:
    """(number in the run, when, normalised batch) of every step; noise comes from the epoch's stream."""
    seed, options = recipe.config.seed, recipe.config.client
    for epoch in task.epochs:
        torch.manual_seed(stream_seed(seed, "noise", epoch, task.client))
        order = batches(len(images), options.batch, seed, epoch, task.client)
        for step, index in enumerate(order):
            pixels, labels = torch.from_numpy(images.pixels[index]), torch.from_numpy(images.labels[index])
            number = epoch * len(order) + step
            moment = Moment(recipe.clock.progress(epoch, step / len(order)), counts, epoch)
            if options.augment == "two-view":
                draw = stream_seed(seed, "views", epoch, task.client, step)
                yield number, moment, Batch(two_views(pixels, recipe.mean, recipe.std, draw), labels.repeat(2))
            else:
                yield number, moment, Batch(normalise(pixels, recipe.mean, recipe.std), labels)


def _refuse_non_finite(seen: Numbers, trace: Trace, task: Task) -> None:
    bad = [name for name, value in seen.items() if not -float("inf") < value < float("inf")]
    if bad:
        before = ", ".join(f"{name} {value:.4g}" for name, value in trace.last.items()) or "nothing: the first step"
        raise NonFinite(
            f"{bad[0]} is {seen[bad[0]]} at local step {trace.steps}; the step before it had {before}",
            where=f"checkpoint {task.step + 1}, client {task.client}",
            fix="lower client.lr, or set client.clip=1.0",
        )
