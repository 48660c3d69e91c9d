"""The one training loop. A client minimises base + λ·align; many small clients do so side by side.

    for each epoch, for each batch:   losses = objective(net, batch, received)
                                      weighed = balance.weigh(losses, policy, moment)
                                      w ← w − lr·clip(∇ weighed.network)

A cohort is a group of clients that take their steps together; one client is a cohort of one. Clients share nothing:
the sum of their losses has the gradient of each in its own weights. A number that is not finite stops that client,
not the others; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
import torch

from equipoise.balance.policy import Balance
from equipoise.client.branches import branch_gradients
from equipoise.client.feed import Steps
from equipoise.client.gradients import EVERY, sampled, unreached
from equipoise.client.groups import in_phase, trained
from equipoise.client.policy import gradients, leaves, stepped
from equipoise.client.recipe import Recipe
from equipoise.client.result import EndedTraining, Trainee, stop_non_finite
from equipoise.client.trace import Trace, numbers
from equipoise.client.weights import Alone, Start, Together
from equipoise.core.pulse import PULSE
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import Losses, Moment, Result, State, Task, Weighed


def train(recipe: Recipe, tasks: Sequence[Task]) -> list[Result]:
    """Train a cohort through the epochs of its tasks."""
    ended = ended_training(recipe, tasks)
    return ended.results(recipe.device.home(ended.unread()))


def ended_training(recipe: Recipe, tasks: Sequence[Task]) -> EndedTraining:
    """Train a cohort; each client starts from its own model, else from the server's. What came out of it is still on
    the device."""
    started, feeds, device = perf_counter(), [recipe.feed(task) for task in tasks], recipe.device
    lengths = [feed.n_steps for feed in feeds]
    order = sorted(range(len(tasks)), key=lambda k: -lengths[k])
    policies = device.there([task.own.policy or recipe.balance.start(feeds[k].counts) for k, task in enumerate(tasks)])
    trainees = [Trainee(tasks[k], feeds[k], policies[k]) for k in order]
    received = device.there(dict(tasks[0].shared))
    weights, trace = _weights(recipe, trainees, received), Trace(len(trainees), device)
    with torch.random.fork_rng(devices=[]):
        for place, epoch in enumerate(tasks[0].epochs):
            weights.begin(recipe.config.seed, epoch, in_phase(recipe.phases, recipe.groups, place))
            for number, steps in enumerate(recipe.work.steps([trainee.feed for trainee in trainees], epoch)):
                PULSE.beat(len(tasks) * (place + number / max(lengths)) / len(tasks[0].epochs))
                going = trainees[: len(steps.numbers)]
                if not all(trainee.failure for trainee in going):
                    _take(recipe, weights, going, steps, trace, received)
                    stop_non_finite(trainees, trace)
    PULSE.beat(0.0)
    n, seconds = len(tasks), (perf_counter() - started) / len(tasks)
    unreached_weights = weights.unreached if trace.steps.any() else ()
    trace.add({f"grad/unreached/{name}": np.ones(n) for name in unreached_weights}, np.arange(n))
    return EndedTraining(recipe, order, trainees, weights, trace, seconds)


def _weights(recipe: Recipe, trainees: Sequence[Trainee], received: State) -> Alone | Together:
    moving = trained(recipe.config, recipe.groups, trainees[0].task.step)
    tasks, feeds = [trainee.task for trainee in trainees], [trainee.feed for trainee in trainees]
    starts = recipe.device.there([Start(task.own.model, task.own.optimiser) for task in tasks])
    starts = [Start({**received, **start.model}, start.optimiser) for start in starts]
    if len(trainees) == 1 and feeds[0].rows is None:
        return Alone(recipe, tasks[0], feeds[0], starts[0], moving)
    return Together(recipe, feeds, starts, moving)


def _take(
    recipe: Recipe,
    weights: Alone | Together,
    trainees: Sequence[Trainee],
    steps: Steps,
    trace: Trace,
    received: State,
) -> None:
    """One step of all clients that are still training."""
    WATCH.lap("data")
    is_compiling = recipe.is_compiling(steps.batch)
    balance, options = recipe.balance, recipe.options_at(steps.epoch)
    losses = weights.losses(recipe.objective, steps, received)
    WATCH.lap("compile" if is_compiling else "forward")
    weighed = _weighed(balance, losses, trainees, steps)
    sample = np.flatnonzero(steps.numbers % EVERY == 0)
    extra = sampled(losses, list(weights.leaves.values()), weights.is_stacked) if len(sample) else {}
    network = torch.stack([each.network for each in weighed]) if weighed else losses.base
    network.sum().backward()  # type: ignore[no-untyped-call]
    WATCH.lap("compile" if is_compiling else "backward")
    is_first = trace.steps[0] == 0  # the first step of all tasks: a cohort starts together
    first = (
        {**branch_gradients(weights.leaves, len(trainees)), **recipe.work.input_statistics(steps.batch)}
        if is_first
        else {}
    )
    weights.unreached = unreached(weights.unreached, weights.leaves)
    own = [gradients(each, trainee.policy) for each, trainee in zip(weighed, trainees, strict=bool(weighed))]
    norms, factors = weights.clip(own, options.clip, balance.learning is not None and balance.learning.clip == "joint")
    for k, each in enumerate(weighed):
        trainees[k].policy = each.remembered or stepped(trainees[k].policy, own[k], balance.learning, factors[k])
    if losses.memory:
        for k, trainee in enumerate(trainees):
            trainee.feed.observe({name: value[k] for name, value in losses.memory.items()})
    trace.step(numbers(losses, weighed, norms, factors))
    trace.add({name: values[sample.tolist()].float() for name, values in extra.items()}, sample)
    trace.add(first, np.arange(len(trainees)))
    weights.descend(options)
    WATCH.lap("optimiser")


def _weighed(balance: Balance, losses: Losses, trainees: Sequence[Trainee], steps: Steps) -> list[Weighed]:
    """The λ policy's result for each client's losses; empty if there is nothing to weigh."""
    if balance.is_idle and losses.align is None:
        return []
    weighed = []
    for k, trainee in enumerate(trainees):
        moment = Moment(float(steps.progress[k]), trainee.feed.counts, steps.epoch)
        align = None if losses.align is None else losses.align[k]
        trainee.policy = leaves(balance, trainee.policy)
        weighed.append(balance.weigh(Losses(losses.base[k], align, {}, losses.hit[k]), trainee.policy, moment))
    return weighed


def first_losses(recipe: Recipe, task: Task) -> Losses:
    """The losses of a client's first batch; nothing is trained."""
    feed, received = recipe.feed(task), recipe.device.there(dict(task.shared))
    weights = _weights(recipe, [Trainee(task, feed, {})], received)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        weights.begin(recipe.config.seed, 0, None)
        found = weights.losses(recipe.objective, next(recipe.work.steps([feed], 0)), received)
    base, align = recipe.device.home((found.base, found.align))
    return replace(found, base=base, align=align)
