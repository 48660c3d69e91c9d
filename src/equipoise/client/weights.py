"""Where the weights of the clients under training lie: one client's in the network itself, many along a leading axis.

    alone      the network with its own weights                    w [*]
    together   the same network, mapped over the clients           w [K, *]       torch.func, one pass for all

Both give one `Losses` per client, so the loop above them does not know which it has. Clients that are done leave from
the end: the rest go on with a shorter axis, and nothing is masked or computed in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from equipoise.client.feed import Step
from equipoise.client.optimiser import Clipped, clipped, descend, each_clipped, restored, start_buffers
from equipoise.config.blocks import ClientOptions
from equipoise.core.values import Indices, Losses, State, Task
from equipoise.models.build import contiguous_copies
from equipoise.objective.compose import Net, Objective


class Alone:
    is_stacked = False

    def __init__(
        self, model: nn.Module, tasks: Sequence[Task], options: ClientOptions, trained: Collection[str] | None
    ) -> None:
        (task,) = tasks
        self.model = model
        source = {**task.shared, **task.own.model}
        model.load_state_dict({name: source[name] for name in model.state_dict()})
        model.train()
        self.net = Net(model, dict(model.named_parameters()))
        self.leaves = {name: param for name, param in self.net.params.items() if trained is None or name in trained}
        self.buffers = restored(task.own.optimiser, start_buffers(self.leaves, options))

    def losses(self, objective: Objective, steps: Sequence[Step], received: State) -> list[Losses]:
        (step,) = steps
        self.model.zero_grad()
        return [objective(self.net, step.batch, received, step.moment)]

    def clip(self, own: Sequence[State], clip: float | None, joint: bool) -> list[Clipped]:
        return [clipped(list(self.leaves.values()), own, clip, joint)]

    def descend(self, options: ClientOptions) -> None:
        descend(self.leaves, self.buffers, options, getattr(self.model, "tables", ()))

    def states(self) -> Iterator[tuple[State, State]]:
        yield contiguous_copies(self.model.state_dict()), contiguous_copies(self.buffers)


class Together:
    """For networks without buffers and without noise of their own (`stacks`)."""

    is_stacked = True

    def __init__(
        self,
        model: nn.Module,
        tasks: Sequence[Task],
        options: ClientOptions,
        trained: Collection[str] | None,
        rows: Sequence[Indices] | None = None,
    ) -> None:
        self.model, self.trained, self.rows = model.train(), trained, rows or ()
        self.tables = getattr(model, "tables", ()) if rows else ()
        sources = [{**task.shared, **task.own.model} for task in tasks]
        self.params = {name: self._stack(name, [source[name] for source in sources]) for name in model.state_dict()}
        fresh = start_buffers({name: self.params[name][0] for name in self._moving()}, options)
        saved = [restored(task.own.optimiser, dict(contiguous_copies(fresh))) for task in tasks]
        self.buffers = {name: torch.stack([one[name] for one in saved]) for name in fresh}
        self.leaves: dict[str, Tensor] = {}

    def _stack(self, name: str, tensors: Sequence[Tensor]) -> Tensor:
        """Of a table, each client's own rows, as many as the longest has; the rest is never looked at."""
        if name not in self.tables:
            return torch.stack(list(tensors))
        held = [tensor[torch.from_numpy(rows)] for tensor, rows in zip(tensors, self.rows, strict=True)]
        return torch.nn.utils.rnn.pad_sequence(held, batch_first=True)

    def losses(self, objective: Objective, steps: Sequence[Step], received: State) -> list[Losses]:
        n, moment = len(steps), steps[0].moment
        frozen = {name: param[:n] for name, param in self.params.items()}
        self.leaves = {name: frozen.pop(name).detach().requires_grad_() for name in self._moving()}
        kind = type(steps[0].batch)
        batches = _stacked([step.batch for step in steps])

        def one(params: State, batch: tuple[Tensor, ...]) -> dict[str, Any]:
            net = Net(lambda *inputs: functional_call(self.model, dict(params), inputs), params)
            return _flat(objective(net, kind(*batch), received, moment))

        found = torch.vmap(one)({**frozen, **self.leaves}, batches)
        return [_losses(found, client) for client in range(n)]

    def _moving(self) -> list[str]:
        return [name for name in self.params if self.trained is None or name in self.trained]

    def clip(self, own: Sequence[State], clip: float | None, joint: bool) -> list[Clipped]:
        return each_clipped(list(self.leaves.values()), own, clip, joint)

    def descend(self, options: ClientOptions) -> None:
        n = len(next(iter(self.leaves.values())))
        buffers = {name: buffer[:n] for name, buffer in self.buffers.items()}
        descend(self.leaves, buffers, options, getattr(self.model, "tables", ()))

    def states(self) -> Iterator[tuple[State, State]]:
        for client in range(len(next(iter(self.params.values())))):
            model = {name: self._own(name, param[client], client) for name, param in self.params.items()}
            buffers = {name: buffer[client] for name, buffer in self.buffers.items()}
            yield contiguous_copies(model), contiguous_copies(buffers)

    def _own(self, name: str, param: Tensor, client: int) -> Tensor:
        return param[: len(self.rows[client])] if name in self.tables else param


def _stacked(batches: Sequence[Any]) -> tuple[Tensor, ...]:
    """Each part of the clients' batches on one axis; lists of rows are as long as the longest."""
    parts = zip(*batches, strict=True)
    return tuple(torch.nn.utils.rnn.pad_sequence(part, batch_first=True) for part in map(list, parts))


def _flat(losses: Losses) -> dict[str, Any]:
    align = {} if losses.align is None else {"align": losses.align}
    maps = {"parts": losses.parts, "memory": losses.memory, "measured": losses.measured}
    return {"base": losses.base, "hit": losses.hit, **align, **{name: dict(part) for name, part in maps.items()}}


def _losses(found: Mapping[str, Any], client: int) -> Losses:
    def own(part: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: value[client] for name, value in part.items()}

    align = found["align"][client] if "align" in found else None
    parts, memory, measured = (own(found[name]) for name in ("parts", "memory", "measured"))
    return Losses(found["base"][client], align, parts, found["hit"][client], memory, measured)
