"""Where the weights of clients in training are stored: one client's in the network, many along a leading axis.

    alone      the network with its own weights                    w [*]
    together   the same network, mapped over the clients           w [K, *]       torch.func, one pass for all

Both give `Losses` with a leading client axis, so the training loop does not depend on which one it has. Finished
clients are removed from the end: the others continue on a shorter axis, and nothing is computed in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from equipoise.client.feed import Feed, Steps
from equipoise.client.mapped import Called, mapped
from equipoise.client.optimiser import ON_CPU, Clipped, clipped, descend, each_clipped, restored, start_buffers
from equipoise.client.recipe import Recipe
from equipoise.config.blocks import ClientOptions
from equipoise.core.codec import unstacked
from equipoise.core.streams import stream_seed
from equipoise.core.values import Losses, Moment, State, Task
from equipoise.models.build import contiguous_copies
from equipoise.objective.compose import Net, Objective


class Start(NamedTuple):
    """What a client starts from, on the device: the weights, and the buffers of its optimiser."""

    model: State
    optimiser: State


class Alone:
    is_stacked = False

    def __init__(self, recipe: Recipe, task: Task, feed: Feed, start: Start, trained: Collection[str] | None) -> None:
        self.model, self.client, model = recipe.model, task.client, recipe.model
        self.counts = recipe.device.there(torch.from_numpy(feed.counts))
        model.load_state_dict({name: start.model[name] for name in model.state_dict()})
        model.train()
        self.net = Net(recipe.forward(recipe.alone), dict(model.named_parameters()), partial(_with_weights, model))
        self.trained = {name: param for name, param in self.net.params.items() if trained is None or name in trained}
        self.leaves, self.options = self.trained, recipe.config.client
        saved = {**start.optimiser, **{name: task.own.optimiser[name] for name in ON_CPU & start.optimiser.keys()}}
        self.buffers = restored(saved, start_buffers(self.leaves, self.options))
        self.unreached: Sequence[str] = [name for name, param in self.trained.items() if param.requires_grad]
        """Weights in training that no loss has depended on yet."""

    def begin(self, seed: int, epoch: int, phase: Collection[str] | None) -> None:
        """Noise inside the network comes from the client's stream of the epoch, through torch's global generator.

        Only the CPU generator is seeded: torch.manual_seed queues a call for every type of device, which takes a
        millisecond and stays in memory. A phase that trains other weights starts with fresh buffers.
        """
        torch.default_generator.manual_seed(stream_seed(seed, "noise", epoch, self.client))
        leaves = {name: param for name, param in self.trained.items() if phase is None or name in phase}
        if leaves.keys() != self.leaves.keys():
            self.leaves, self.buffers = leaves, start_buffers(leaves, self.options)

    def losses(self, objective: Objective, steps: Steps, received: State) -> Losses:
        for param in self.net.params.values():
            param.grad = None
        own = type(steps.batch)(*map(_first, steps.batch))
        moment = Moment(float(steps.progress[0]), self.counts, steps.epoch)  # type: ignore[arg-type]
        return _as_cohort(objective(self.net, own, received, moment))

    def clip(self, own: Sequence[State], clip: float | None, joint: bool) -> Clipped:
        return clipped(list(self.leaves.values()), own, clip, joint)

    def descend(self, options: ClientOptions) -> None:
        descend(self.leaves, self.buffers, options, getattr(self.model, "tables", ()))

    def stacked(self) -> tuple[State, State]:
        """Copies of the weights and of the optimiser's buffers: the network is used again. Gradients are let go."""
        for param in self.net.params.values():
            param.grad = None
        return contiguous_copies(self.model.state_dict()), contiguous_copies(self.buffers)

    def states(self, home: tuple[State, State]) -> Iterator[tuple[State, State]]:
        yield home


def _first(part: Any) -> Any:
    """The first client's part of a tensor, or of named tensors."""
    if isinstance(part, Mapping):
        return {name: value[0] for name, value in part.items()}
    return None if part is None else part[0]


def _as_cohort(losses: Losses) -> Losses:
    """One client's losses as those of a cohort of one."""
    align = None if losses.align is None else losses.align[None]
    parts, memory, measured = (
        {name: value[None] for name, value in part.items()} for part in (losses.parts, losses.memory, losses.measured)
    )
    return Losses(losses.base[None], align, parts, losses.hit[None], memory, measured)


class Together:
    """For networks that draw no noise and have no buffers that training changes (`stacks`)."""

    is_stacked = True

    def __init__(
        self, recipe: Recipe, feeds: Sequence[Feed], starts: Sequence[Start], trained: Collection[str] | None
    ) -> None:
        model, options, self.device = recipe.model, recipe.config.client, recipe.device
        self.model, self.called, self.forward = model.train(), Called(model), recipe.forward
        self.rows = [feed.rows for feed in feeds if feed.rows is not None]
        self.tables = getattr(model, "tables", ()) if self.rows else ()
        self.counts = self.device.there(torch.from_numpy(np.stack([feed.counts for feed in feeds])))
        self.params = {name: self._stack(name, [start.model[name] for start in starts]) for name in model.state_dict()}
        weights = [name for name, param in model.named_parameters() if param.requires_grad]
        self.trained = [name for name in weights if trained is None or name in trained]
        self.moving, self.unreached, self.options = self.trained, self.trained, options
        fresh = start_buffers({name: self.params[name][0] for name in self.moving}, options)
        saved = [restored(start.optimiser, dict(contiguous_copies(fresh))) for start in starts]
        self.buffers = self.device.there({name: torch.stack([one[name] for one in saved]) for name in fresh})
        self.leaves: dict[str, Tensor] = {}

    def _stack(self, name: str, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors along a client axis; of a table, each client's own rows, padded to the longest (never read)."""
        if name not in self.tables:
            return torch.stack(list(tensors))
        places = self.device.there([torch.from_numpy(rows) for rows in self.rows])
        held = [tensor[rows] for tensor, rows in zip(tensors, places, strict=True)]
        return torch.nn.utils.rnn.pad_sequence(held, batch_first=True)

    def begin(self, seed: int, epoch: int, phase: Collection[str] | None) -> None:
        """There is no noise; a phase that trains other weights begins with fresh buffers."""
        moving = [name for name in self.trained if phase is None or name in phase]
        if moving != self.moving:
            one = start_buffers({name: self.params[name][0] for name in moving}, self.options)
            self.moving, n = moving, len(self.counts)
            self.buffers = self.device.there({name: torch.stack([buffer] * n) for name, buffer in one.items()})

    def losses(self, objective: Objective, steps: Steps, received: State) -> Losses:
        n, epoch, batch = len(steps.numbers), steps.epoch, steps.batch
        frozen = {name: param[:n] for name, param in self.params.items()}
        self.leaves = {name: frozen.pop(name).detach().requires_grad_() for name in self.moving}
        progress = self.device.there(torch.from_numpy(steps.progress).float())

        def one(params: State, batch: Any, progress: Tensor, counts: Tensor) -> Losses:
            forward = self.forward(lambda *inputs: self.called(params, inputs))
            net = Net(forward, params, partial(_with_weights, self.model))
            moment = Moment(progress, counts, epoch)  # type: ignore[arg-type]
            return objective(net, batch, received, moment)

        return mapped(one, {**frozen, **self.leaves}, batch, progress, self.counts[:n])

    def clip(self, own: Sequence[State], clip: float | None, joint: bool) -> Clipped:
        return each_clipped(list(self.leaves.values()), own, clip, joint)

    def descend(self, options: ClientOptions) -> None:
        n = len(next(iter(self.leaves.values())))
        buffers = {name: buffer[:n] for name, buffer in self.buffers.items()}
        descend(self.leaves, buffers, options, getattr(self.model, "tables", ()))

    def stacked(self) -> tuple[State, State]:
        """The weights and buffers of all clients; gradients are let go."""
        self.leaves = {}
        return self.params, self.buffers

    def states(self, home: tuple[State, State]) -> Iterator[tuple[State, State]]:
        """Each client's weights and buffers, as views of the stacked tensors; training on them is over."""
        models, buffers = (unstacked(tensors, len(self.counts)) for tensors in home)
        for client, model in enumerate(models):
            for name in self.tables:
                model[name] = model[name][: len(self.rows[client])]
        yield from zip(models, buffers, strict=True)


def _with_weights(model: nn.Module, weights: State, *inputs: Tensor) -> Any:
    """The network's outputs with other weights: without gradients and in evaluation mode, so nothing is changed."""
    was_training, named = model.training, {name: weights[name] for name in model.state_dict()}
    try:
        with torch.no_grad():
            return functional_call(model.eval(), named, inputs)
    finally:
        model.train(was_training)
