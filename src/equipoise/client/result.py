"""The result of a client's training: its update, with what it keeps for its next task, or why it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from equipoise.client.feed import Feed
from equipoise.client.finished import Finished
from equipoise.client.groups import trained
from equipoise.client.recipe import Recipe
from equipoise.client.trace import NotFinite, Trace
from equipoise.client.weights import Alone, Together
from equipoise.core.errors import NonFinite
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Result, State, Task
from equipoise.models.build import contiguous_copies


@dataclass
class Trainee:
    """A client in training: its task, its data, the parameters of its λ policy (on the device), why it stopped."""

    task: Task
    feed: Feed
    policy: State
    failure: ClientFailure | None = None


class Kept(NamedTuple):
    """What is left of a client's training: weights, optimiser buffers, the λ policy's parameters, its data's memory."""

    model: State
    buffers: State
    policy: State
    memory: State


class EndedTraining:
    """A cohort whose steps are taken; `results` needs the tensors of `unread` on the CPU.

    The results of several cohorts can be brought home together, so that the host waits once for all.
    """

    def __init__(
        self,
        recipe: Recipe,
        order: Sequence[int],
        trainees: Sequence[Trainee],
        weights: Alone | Together,
        trace: Trace,
        seconds: float,
    ) -> None:
        self.recipe, self.order, self.trainees, self.trace, self.seconds = recipe, order, trainees, trace, seconds
        model, buffers = weights.stacked()
        self.weights, self.stacked = weights, (model, buffers if recipe.keeps_buffers else {})

    def unread(self) -> Unread:
        ends = [(trainee.policy, trainee.feed.unread()) for trainee in self.trainees]
        return Unread(self.trace.unread(), self.stacked, ends)

    def results(self, home: Unread) -> list[Result]:
        """One result per task, in the order of the tasks."""
        self.trace.settle(home.numbers)
        stop_non_finite(self.trainees, self.trace)
        found: dict[int, Result] = {}
        states, means = self.weights.states(home.stacked), self.trace.means()
        for place, trainee, own, end, measured in zip(self.order, self.trainees, states, home.ends, means, strict=True):
            if trainee.failure is not None:
                found[place] = trainee.failure
                continue
            policy, memory = end
            trainee.feed.settle(memory)
            kept = Kept(*own, policy, trainee.feed.memory())
            try:
                found[place] = _update(self.recipe, trainee, kept, measured | {"seconds": self.seconds})
            except NonFinite as error:  # of what it was to send: this client stops, not the others
                found[place] = ClientFailure(trainee.task.client, "non-finite", str(error))
        WATCH.lap("update")
        return [found[place] for place in range(len(found))]


class Unread(NamedTuple):
    """What a cohort leaves on the device: unread numbers, weights and buffers, policies and memories of its clients."""

    numbers: list[dict[torch.dtype, Tensor]]
    stacked: tuple[State, State]
    ends: list[tuple[State, Any]]


def stop_non_finite(trainees: Sequence[Trainee], trace: Trace) -> None:
    """Stop clients with a number that is not finite, as far as numbers are settled."""
    for k, found in trace.not_finite.items():
        if trainees[k].failure is None:
            trainees[k].failure = _failure(trainees[k], found)


def _update(recipe: Recipe, trainee: Trainee, kept: Kept, measured: Mapping[str, float]) -> ClientUpdate:
    feed, task = trainee.feed, trainee.task
    memory: State = dict(kept.memory)
    report: State = dict(feed.report())
    if recipe.keep or recipe.report:
        done = _finished(recipe, trainee, kept)
        memory = {**memory, **(recipe.keep(done) if recipe.keep else {})}
        report = {**report, **(recipe.report(done) if recipe.report else {})}
    policy, memory, report = map(contiguous_copies, (kept.policy, memory, report))
    sent, mine = _parted(recipe, kept.model)
    own = ClientState(mine, kept.buffers, policy, memory, report)
    metrics = {**measured, **feed.numbers(), "samples": feed.samples}
    return ClientUpdate(task.client, feed.samples, sent, own, metrics, feed.counts.tolist(), _held(recipe, feed))


def _held(recipe: Recipe, feed: Feed) -> State:
    """The rows that the client holds of each of the model's tables; empty if it holds all."""
    if feed.rows is None:
        return {}
    return {name: torch.from_numpy(feed.rows) for name in getattr(recipe.model, "tables", ())}


def _parted(recipe: Recipe, model: State) -> tuple[State, State]:
    """What a client sends of its model, and what it keeps: all, if it goes on from its own, else what is personal."""
    if recipe.keeps_buffers:
        return model, model
    if not recipe.personal:
        return model, {}
    sent = {name: tensor for name, tensor in model.items() if name not in recipe.personal}
    return sent, {name: model[name].clone() for name in model if name in recipe.personal}


def _finished(recipe: Recipe, trainee: Trainee, kept: Kept) -> Finished:
    """The finished task; a client that continues from its own model has been training since the first epoch."""
    options, task, feed = recipe.config.client, trainee.task, trainee.feed
    since = range(0 if recipe.keeps_buffers else task.epochs.start, task.epochs.stop)
    rates = np.repeat([recipe.options_at(epoch).lr for epoch in since], feed.n_steps)
    momentum = options.momentum if options.optimiser == "sgd" else 0.0
    moving = trained(recipe.config, recipe.groups, task.step)
    return Finished(task, kept.model, kept.memory, rates, momentum, recipe.model, feed, recipe.personal, moving)


def _failure(trainee: Trainee, found: NotFinite) -> ClientFailure:
    before = ", ".join(f"{name} {value:.4g}" for name, value in found.before.items()) or "nothing: the first step"
    error = NonFinite(
        f"{found.name} is {found.value} at local step {found.step}; the step before it had {before}",
        where=f"checkpoint {trainee.task.step + 1}, client {trainee.task.client}",
        fix="lower client.lr, or set client.clip=1.0",
    )
    return ClientFailure(trainee.task.client, "non-finite", str(error))
