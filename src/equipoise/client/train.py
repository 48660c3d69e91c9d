"""The one training loop. A client minimises base + λ·align; many small clients do so side by side.

    for each epoch, for each batch:   losses = objective(net, batch, received)
                                      weighed = balance.weigh(losses, policy, moment)
                                      w ← w − lr·clip(∇ weighed.network)

A cohort is a group of clients that take their steps together; one client is a cohort of one. Clients share nothing:
the sum of their losses has the gradient of each in its own weights. A number that is not finite stops that client,
not the others; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import torch
from torch import nn

from equipoise.balance.policy import Balance
from equipoise.balance.schedule import schedule
from equipoise.client.branches import branch_gradients
from equipoise.client.feed import Feed, Step, lockstep
from equipoise.client.gradients import EVERY, sampled
from equipoise.client.groups import Groups, trained
from equipoise.client.policy import gradients, leaves, stepped
from equipoise.client.trace import Numbers, Trace, numbers
from equipoise.client.weights import Alone, Together
from equipoise.config.blocks import ClientOptions
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import NonFinite
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Losses, Result, State, Task
from equipoise.models.build import contiguous_copies
from equipoise.objective.compose import Net, Objective


@dataclass(frozen=True)
class Recipe:
    """What every client of a run has in common."""

    config: Config
    clock: Clock
    model: nn.Module
    objective: Objective
    balance: Balance
    feed: Callable[[Task], Feed]
    """A client's own data, for that task."""

    @property
    def groups(self) -> Groups:
        """Parameters that are merged, frozen or staged together, as the model declares them."""
        return self.model.groups  # type: ignore[return-value]


@dataclass
class Pupil:
    """A client under training: its task, its data, the parameters of its λ policy, what it has written down."""

    task: Task
    feed: Feed
    policy: State
    trace: Trace = field(default_factory=Trace)
    failure: ClientFailure | None = None


def train(recipe: Recipe, tasks: Sequence[Task]) -> list[Result]:
    """Train a cohort through the epochs of its tasks, each from its own model if it has one, else from the server's."""
    started, feeds = perf_counter(), [recipe.feed(task) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda k: -feeds[k].n_steps)
    pupils = [Pupil(tasks[k], feeds[k], tasks[k].own.policy or recipe.balance.start(feeds[k].counts)) for k in order]
    weights = _weights(recipe, pupils)
    with torch.random.fork_rng(devices=[]):
        for steps in lockstep([pupil.feed for pupil in pupils]):
            _take(recipe, weights, pupils[: len(steps)], steps)
            if all(pupil.failure is not None for pupil in pupils):
                break
    seconds = (perf_counter() - started) / len(tasks)
    results = [_result(recipe, pupil, *states, seconds) for pupil, states in zip(pupils, weights.states(), strict=True)]
    return [result for _, result in sorted(zip(order, results, strict=True), key=lambda pair: pair[0])]


def _weights(recipe: Recipe, pupils: Sequence[Pupil]) -> Alone | Together:
    moving = trained(recipe.config, recipe.groups, pupils[0].task.step)
    tasks = [pupil.task for pupil in pupils]
    rows = [pupil.feed.rows for pupil in pupils if pupil.feed.rows is not None]
    if len(tasks) == 1 and not rows:
        return Alone(recipe.model, tasks, recipe.config.client, moving)
    return Together(recipe.model, tasks, recipe.config.client, moving, rows or None)


def _take(recipe: Recipe, weights: Alone | Together, pupils: Sequence[Pupil], steps: Sequence[Step]) -> None:
    """One step of everybody who still goes on."""
    balance, options = recipe.balance, _now(recipe, steps[0])
    losses = weights.losses(recipe.objective, steps, pupils[0].task.shared)
    weighed = []
    for pupil, step, each in zip(pupils, steps, losses, strict=True):
        pupil.policy = leaves(balance, pupil.policy)
        weighed.append(balance.weigh(each, pupil.policy, step.moment))
    is_sampled = any(step.number % EVERY == 0 for step in steps)
    extra = sampled(losses, list(weights.leaves.values()), weights.is_stacked) if is_sampled else [{} for _ in steps]
    torch.stack([each.network for each in weighed]).sum().backward()  # type: ignore[no-untyped-call]
    is_first = pupils[0].trace.steps == 0  # of everybody's task: a cohort begins together
    pulls = branch_gradients(weights.leaves, len(steps)) if is_first else [{} for _ in steps]
    own = [gradients(each, pupil.policy) for each, pupil in zip(weighed, pupils, strict=True)]
    clips = weights.clip(own, options.clip, balance.learning is not None and balance.learning.clip == "joint")
    for k, pupil in enumerate(pupils):
        seen = numbers(losses[k], weighed[k], *clips[k]) | (extra[k] if steps[k].number % EVERY == 0 else {}) | pulls[k]
        pupil.failure = pupil.failure or _non_finite(seen, pupil)
        pupil.policy = weighed[k].remembered or stepped(pupil.policy, own[k], balance.learning, clips[k][1])
        pupil.feed.observe(losses[k].memory)
        pupil.trace.add(seen)
    weights.descend(options)


def _now(recipe: Recipe, step: Step) -> ClientOptions:
    """The client's settings with the epoch's learning rate, the same for everybody."""
    options = recipe.config.client
    factor = schedule(options.schedule, recipe.clock.progress(step.moment.epoch, 0.0))
    return options if factor == 1.0 else options.model_copy(update={"lr": options.lr * factor})


def _result(recipe: Recipe, pupil: Pupil, model: State, buffers: State, seconds: float) -> Result:
    if pupil.failure is not None:
        return pupil.failure
    feed, task = pupil.feed, pupil.task
    own = ClientState(model, buffers, *map(contiguous_copies, (pupil.policy, feed.memory(), feed.told(recipe.model))))
    counted = {"steps": pupil.trace.steps, "samples": feed.samples, "seconds": seconds}
    metrics = {**pupil.trace.means(), **feed.numbers(), **counted}
    tables: tuple[str, ...] = getattr(recipe.model, "tables", ())
    held = {} if feed.rows is None else {name: torch.from_numpy(feed.rows) for name in tables}
    return ClientUpdate(task.client, feed.samples, model, own, metrics, feed.counts.tolist(), held)


def first_losses(recipe: Recipe, task: Task) -> Losses:
    """What a client's first batch would cost; nothing is trained."""
    recipe.model.load_state_dict({name: task.shared[name] for name in recipe.model.state_dict()})
    recipe.model.train()
    net = Net(recipe.model, dict(recipe.model.named_parameters()))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        _, moment, batch = next(recipe.feed(task).steps())
        return recipe.objective(net, batch, task.shared, moment)


def _non_finite(seen: Numbers, pupil: Pupil) -> ClientFailure | None:
    bad = [name for name, value in seen.items() if not -float("inf") < value < float("inf")]
    if not bad:
        return None
    trace, task = pupil.trace, pupil.task
    before = ", ".join(f"{name} {value:.4g}" for name, value in trace.last.items()) or "nothing: the first step"
    error = NonFinite(
        f"{bad[0]} is {seen[bad[0]]} at local step {trace.steps}; the step before it had {before}",
        where=f"checkpoint {task.step + 1}, client {task.client}",
        fix="lower client.lr, or set client.clip=1.0",
    )
    return ClientFailure(task.client, "non-finite", str(error))
