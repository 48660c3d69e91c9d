"""The one training loop. A client minimises base + λ·align; many small clients do so side by side.

    for each epoch, for each batch:   losses = objective(net, batch, received)
                                      weighed = balance.weigh(losses, policy, moment)
                                      w ← w − lr·clip(∇ weighed.network)

A cohort is a group of clients that take their steps together; one client is a cohort of one. Clients share nothing:
the sum of their losses has the gradient of each in its own weights. A number that is not finite stops that client,
not the others; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from torch import nn

from equipoise.balance.policy import Balance
from equipoise.balance.schedule import schedule
from equipoise.client.branches import branch_gradients
from equipoise.client.feed import Feed, Steps, Work
from equipoise.client.finished import Finished, Report
from equipoise.client.gradients import EVERY, sampled, unreached
from equipoise.client.groups import Groups, Phase, in_phase, trained
from equipoise.client.policy import gradients, leaves, stepped
from equipoise.client.trace import ClientColumns, Trace, numbers, plain
from equipoise.client.weights import Alone, Together
from equipoise.config.blocks import ClientOptions
from equipoise.config.schema import Config
from equipoise.core.errors import NonFinite
from equipoise.core.pulse import PULSE
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Losses, Moment, Result, State, Task, Weighed
from equipoise.models.build import contiguous_copies
from equipoise.objective.compose import Objective


@dataclass(frozen=True)
class Recipe:
    """What all clients of a run share."""

    config: Config
    model: nn.Module
    objective: Objective
    balance: Balance
    work: Work
    feed: Callable[[Task], Feed]
    """(task) → the client's own data for it."""
    keeps_buffers: bool = True
    """Whether a client's next task continues with its optimiser buffers."""
    report: Report | None = None
    """What a client sends beside its model."""
    keep: Report | None = None
    """What a client keeps for its next task, beside what its data remembers."""
    phases: Sequence[Phase] = ()
    """Which groups are trained in which epochs of a task."""
    personal: frozenset[str] = frozenset()
    """Weights that must not leave the client."""

    @property
    def groups(self) -> Groups:
        """Parameters that are merged, frozen or staged together, as the model declares them."""
        return self.model.groups  # type: ignore[return-value]


@dataclass
class Trainee:
    """A client in training: its task, its data, the parameters of its λ policy, and why it was stopped."""

    task: Task
    feed: Feed
    policy: State
    failure: ClientFailure | None = None


def train(recipe: Recipe, tasks: Sequence[Task]) -> list[Result]:
    """Train a cohort through the epochs of its tasks; each client starts from its own model, else from the server's."""
    started, feeds = perf_counter(), [recipe.feed(task) for task in tasks]
    lengths = [feed.n_steps for feed in feeds]
    order = sorted(range(len(tasks)), key=lambda k: -lengths[k])
    trainees = [
        Trainee(tasks[k], feeds[k], tasks[k].own.policy or recipe.balance.start(feeds[k].counts)) for k in order
    ]
    weights, trace = _weights(recipe, trainees), Trace(len(trainees))
    with torch.random.fork_rng(devices=[]):
        for place, epoch in enumerate(tasks[0].epochs):
            weights.begin(recipe.config.seed, epoch, in_phase(recipe.phases, recipe.groups, place))
            for number, steps in enumerate(recipe.work.steps([trainee.feed for trainee in trainees], epoch)):
                PULSE.beat(len(tasks) * (place + number / max(lengths)) / len(tasks[0].epochs))
                going = trainees[: len(steps.numbers)]
                if not all(trainee.failure for trainee in going):
                    _take(recipe, weights, going, steps, trace)
    PULSE.beat(0.0)
    n, seconds = len(tasks), (perf_counter() - started) / len(tasks)
    unreached_weights = weights.unreached if trace.steps.any() else ()
    trace.add({f"grad/unreached/{name}": np.ones(n) for name in unreached_weights}, np.arange(n))
    results = {}
    for place, trainee, states, means in zip(order, trainees, weights.states(), trace.means(), strict=True):
        results[place] = _result(recipe, trainee, *states, means | {"seconds": seconds})
    WATCH.lap("update")
    return [results[place] for place in range(len(tasks))]


def _weights(recipe: Recipe, trainees: Sequence[Trainee]) -> Alone | Together:
    moving = trained(recipe.config, recipe.groups, trainees[0].task.step)
    if len(trainees) == 1 and trainees[0].feed.rows is None:
        return Alone(recipe.model, trainees[0].task, trainees[0].feed, recipe.config.client, moving)
    tasks, feeds = [trainee.task for trainee in trainees], [trainee.feed for trainee in trainees]
    return Together(recipe.model, tasks, feeds, recipe.config.client, moving)


def _take(recipe: Recipe, weights: Alone | Together, trainees: Sequence[Trainee], steps: Steps, trace: Trace) -> None:
    """One step of all clients that are still training."""
    WATCH.lap("data")
    balance, options = recipe.balance, _now(recipe, steps.epoch)
    losses = weights.losses(recipe.objective, steps, trainees[0].task.shared)
    WATCH.lap("forward")
    weighed = _weighed(balance, losses, trainees, steps)
    sample = np.flatnonzero(steps.numbers % EVERY == 0)
    extra = sampled(losses, list(weights.leaves.values()), weights.is_stacked) if len(sample) else {}
    network = torch.stack([each.network for each in weighed]) if weighed else losses.base
    network.sum().backward()  # type: ignore[no-untyped-call]
    WATCH.lap("backward")
    is_first = trace.steps[0] == 0  # the first step of all tasks: a cohort starts together
    first = (
        {**branch_gradients(weights.leaves, len(trainees)), **recipe.work.input_statistics(steps.batch)}
        if is_first
        else {}
    )
    weights.unreached = unreached(weights.unreached, weights.leaves)
    own = [gradients(each, trainee.policy) for each, trainee in zip(weighed, trainees, strict=bool(weighed))]
    norms, factors = weights.clip(own, options.clip, balance.learning is not None and balance.learning.clip == "joint")
    seen = numbers(losses, weighed, norms, factors)
    _stop_non_finite(seen, trainees, trace)
    for k, each in enumerate(weighed):
        trainees[k].policy = each.remembered or stepped(trainees[k].policy, own[k], balance.learning, float(factors[k]))
    if losses.memory:
        for k, trainee in enumerate(trainees):
            trainee.feed.observe({name: value[k] for name, value in losses.memory.items()})
    trace.step(seen)
    trace.add({name: values[sample] for name, values in plain(extra).items()}, sample)
    trace.add(plain(first), np.arange(len(trainees)))
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


def _now(recipe: Recipe, epoch: int) -> ClientOptions:
    """The client settings with the epoch's learning rate, the same for all clients."""
    options = recipe.config.client
    factor = schedule(options.schedule, recipe.work.clock.progress(epoch, 0.0))
    return options if factor == 1.0 else options.model_copy(update={"lr": options.lr * factor})


def _result(recipe: Recipe, trainee: Trainee, model: State, buffers: State, measured: Mapping[str, float]) -> Result:
    if trainee.failure is not None:
        return trainee.failure
    feed, task = trainee.feed, trainee.task
    kept = buffers if recipe.keeps_buffers else {}
    memory: State = dict(feed.memory())
    report: State = dict(feed.report())
    if recipe.keep or recipe.report:
        done = _finished(recipe, trainee, model)
        memory = {**memory, **(recipe.keep(done) if recipe.keep else {})}
        report = {**report, **(recipe.report(done) if recipe.report else {})}
    policy, memory, report = map(contiguous_copies, (trainee.policy, memory, report))
    own = ClientState(model, kept, policy, memory, report)
    metrics = {**measured, **feed.numbers(), "samples": feed.samples}
    tables: tuple[str, ...] = getattr(recipe.model, "tables", ())
    held = {} if feed.rows is None else {name: torch.from_numpy(feed.rows) for name in tables}
    return ClientUpdate(task.client, feed.samples, model, own, metrics, feed.counts.tolist(), held)


def _finished(recipe: Recipe, trainee: Trainee, model: State) -> Finished:
    """The finished task; a client that continues from its own model has been training since the first epoch."""
    options, task, feed = recipe.config.client, trainee.task, trainee.feed
    since = range(0 if recipe.keeps_buffers else task.epochs.start, task.epochs.stop)
    rates = np.repeat([_now(recipe, epoch).lr for epoch in since], feed.n_steps)
    momentum = options.momentum if options.optimiser == "sgd" else 0.0
    moving = trained(recipe.config, recipe.groups, task.step)
    return Finished(task, model, feed.memory(), rates, momentum, recipe.model, feed, recipe.personal, moving)


def first_losses(recipe: Recipe, task: Task) -> Losses:
    """The losses of a client's first batch; nothing is trained."""
    feed = recipe.feed(task)
    weights = _weights(recipe, [Trainee(task, feed, {})])
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        weights.begin(recipe.config.seed, 0, None)
        return weights.losses(recipe.objective, next(recipe.work.steps([feed], 0)), task.shared)


def _stop_non_finite(seen: ClientColumns, trainees: Sequence[Trainee], trace: Trace) -> None:
    """Stop clients with a number that is not finite, and record their numbers of the step before."""
    finite = np.isfinite(list(seen.values()))
    if finite.all():
        return
    for k, trainee in enumerate(trainees):
        if trainee.failure is None and not finite[:, k].all():
            name = list(seen)[int(finite[:, k].argmin())]
            trainee.failure = _failure(trainee, f"{name} is {seen[name][k]}", int(trace.steps[k]), trace.last(k))


def _failure(trainee: Trainee, what: str, step: int, last: Mapping[str, float]) -> ClientFailure:
    before = ", ".join(f"{name} {value:.4g}" for name, value in last.items()) or "nothing: the first step"
    error = NonFinite(
        f"{what} at local step {step}; the step before it had {before}",
        where=f"checkpoint {trainee.task.step + 1}, client {trainee.task.client}",
        fix="lower client.lr, or set client.clip=1.0",
    )
    return ClientFailure(trainee.task.client, "non-finite", str(error))
