"""An objective mapped over clients by torch.vmap, with little to do in Python at every step.

    losses(params, batch, progress, counts) → losses with a leading client axis

torch.vmap takes nested mappings apart and puts them together again at every call, and functional_call looks for tied
weights each time. Here vmap gets plain lists of tensors, and weights are put into the network's own tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import tree_flatten, tree_unflatten

from equipoise.core.values import Losses, State

NAMED = ("parts", "memory", "measured")
"""The mappings of `Losses`."""


def mapped(one: Callable[..., Losses], params: State, batch: Any, *more: Tensor) -> Losses:
    """`one(params, batch, *more)` for every client: each tensor has the clients' axis in front."""
    names, leaves, shape = list(params), *tree_flatten(batch)
    there = [place for place, leaf in enumerate(leaves) if leaf is not None]
    paths: list[tuple[str, str]] = []

    def flat(*tensors: Tensor) -> tuple[Tensor, ...]:
        own = dict(zip(names, tensors, strict=False))
        rest = iter(tensors[len(names) :])
        parts: list[Tensor | None] = [None] * len(leaves)
        for place in there:
            parts[place] = next(rest)
        found = _taken_apart(one(own, tree_unflatten(parts, shape), *rest))
        paths[:] = found.keys()
        return tuple(found.values())

    values = torch.vmap(flat)(*params.values(), *(leaves[place] for place in there), *more)
    return _put_together(dict(zip(paths, values, strict=True)))


def _taken_apart(losses: Losses) -> dict[tuple[str, str], Tensor]:
    alone = {"base": losses.base, "hit": losses.hit, **({} if losses.align is None else {"align": losses.align})}
    inner = {(key, name): value for key in NAMED for name, value in getattr(losses, key).items()}
    return {(key, ""): value for key, value in alone.items()} | inner


def _put_together(found: Mapping[tuple[str, str], Tensor]) -> Losses:
    named = {key: {name: value for (at, name), value in found.items() if at == key} for key in NAMED}
    return Losses(found["base", ""], found.get(("align", "")), hit=found["hit", ""], **named)


class Called:
    """A network that is called with other weights and buffers than its own, which stay as they are."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._slots = {
            f"{path}.{name}".lstrip("."): (table, name)
            for path, module in model.named_modules()
            for table in (module._parameters, module._buffers)
            for name in table
        }
        tensors = [table[name] for table, name in self._slots.values()]
        self._has_ties = len({id(tensor) for tensor in tensors if tensor is not None}) < len(tensors)

    def __call__(self, weights: State, inputs: Sequence[Any]) -> Any:
        if self._has_ties:
            return functional_call(self.model, dict(weights), tuple(inputs))
        own = [(*self._slots[name], self._slots[name][0][self._slots[name][1]]) for name in weights]
        try:
            for (table, name, _), tensor in zip(own, weights.values(), strict=True):
                table[name] = tensor
            return self.model(*inputs)
        finally:
            for table, name, tensor in own:
                table[name] = tensor
