"""The device on which clients train and models predict. This is the only file that moves tensors.

    there(x) → x on the device        home(x) → x on the CPU        on the CPU both return x itself

What rests, travels or is merged is on the CPU. A copy to the device is packed into one piece of pinned memory and never
makes the host wait. A copy home makes it wait once, however many tensors it brings.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from equipoise.core.errors import ConfigError, Problem
from equipoise.core.machine import memory
from equipoise.core.values import State

T = TypeVar("T")
AUTO, CPU = "auto", "cpu"
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts; for deterministic products
PACKED = 2**26
"""Most bytes that are pinned for one copy: pinned memory is kept for later ones."""
ALIGN = 256
"""Bytes at whose multiples tensors begin in packed memory, as device allocators place them."""


def devices() -> list[str]:
    """Every device that torch reports: the CPU, then accelerators by number."""
    found = torch.accelerator.current_accelerator()
    count = 0 if found is None else torch.accelerator.device_count()
    return [CPU, *(f"{found.type}:{index}" for index in range(count) if found is not None)]


def resolved(name: str) -> str:
    """The device that a name means here: for `auto` the accelerator that torch reports, else the CPU."""
    known = devices()
    if name == AUTO:
        return CPU if len(known) == 1 else known[1].partition(":")[0]
    if name not in known and f"{name}:0" not in known:
        what = f"there is no device '{name}' here; known: {', '.join(known)}"
        raise ConfigError([Problem("engine.device", what)])
    return name


def device_of(name: str) -> Device:
    return Device(resolved(name))


@dataclass(frozen=True)
class Device:
    name: str = CPU

    @cached_property
    def torch_device(self) -> torch.device:
        return torch.device(self.name)

    @property
    def is_cpu(self) -> bool:
        return self.name == CPU

    @property
    def kind(self) -> str:
        """Without its number: "cuda"."""
        return self.torch_device.type

    @cached_property
    def memory(self) -> int:
        """Bytes of memory that it has."""
        if self.is_cpu:
            return memory()
        try:
            return int(torch.accelerator.get_memory_info(self.torch_device)[1])
        except (RuntimeError, NotImplementedError):  # mps shares the machine's
            return memory()

    @property
    def description(self) -> str:
        """The accelerator's own name, if torch knows it."""
        name = getattr(getattr(torch, self.kind, None), "get_device_name", None)
        return "" if name is None else str(name(self.torch_device))

    def is_there(self) -> bool:
        """Whether the device still computes."""
        try:
            return bool(torch.ones(1, device=self.torch_device).add(1).item() == 2)
        except RuntimeError as error:
            return is_out_of_memory(error)

    def there(self, tree: T) -> T:
        """The tensors of nested mappings and sequences on the device; the host does not wait."""
        return tree if self.is_cpu else self._moved(tree, self.torch_device)

    def home(self, tree: T) -> T:
        """The tensors of nested mappings and sequences on the CPU; the host waits once."""
        return tree if self.is_cpu else self._moved(tree, torch.device(CPU))

    def load(self, network: nn.Module, state: State) -> None:
        """Give a network on the device the weights and buffers of a state on the CPU."""
        network.load_state_dict(self.there(dict(state)))

    def wait(self) -> None:
        """Wait until everything that was asked of the device is done."""
        if not self.is_cpu:
            torch.accelerator.synchronize(self.torch_device)

    def empty_cache(self) -> None:
        """Give back memory that torch holds for later."""
        if not self.is_cpu:
            getattr(torch, self.kind).empty_cache()

    def _moved(self, tree: T, to: torch.device) -> T:
        leaves, shape = tree_flatten(tree)
        places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.device.type != to.type]
        moving = [leaves[at] for at in places]
        try:
            sent = _sent(moving, to)
        except RuntimeError as error:
            if to.type != CPU or not is_out_of_memory(error):
                raise
            sent = _sent_one_by_one(moving, to)
        for at, tensor in zip(places, sent, strict=True):
            leaves[at] = tensor
        moved: T = tree_unflatten(leaves, shape)
        return moved


def _sent(tensors: Sequence[Tensor], to: torch.device) -> list[Tensor]:
    """Tensors of any types by one copy of their bytes; each begins at a multiple of `ALIGN`."""
    if not tensors:
        return []
    starts = [0, *accumulate(-(-tensor.nbytes // ALIGN) * ALIGN for tensor in tensors)]
    if starts[-1] > PACKED and to.type != CPU:
        return _sent_one_by_one(tensors, to)
    is_pinned = to.type not in (CPU, "mps") and can_pin()
    packed = torch.empty(starts[-1], dtype=torch.uint8, device=tensors[0].device, pin_memory=is_pinned)
    for start, tensor in zip(starts[:-1], tensors, strict=True):
        _at(packed, start, tensor).copy_(tensor.detach())
    there = packed.to(to, non_blocking=is_pinned)
    return [_at(there, start, tensor) for start, tensor in zip(starts[:-1], tensors, strict=True)]


def _sent_one_by_one(tensors: Sequence[Tensor], to: torch.device) -> list[Tensor]:
    """Where a device has no memory left to pack them, or where they are too large to be pinned; the host waits."""
    return [tensor.detach().to(to) for tensor in tensors]


def _at(packed: Tensor, start: int, like: Tensor) -> Tensor:
    """The bytes from `start` on as a tensor of that type and shape."""
    return packed[start : start + like.nbytes].view(like.dtype).view(like.shape)


@cache
def can_pin() -> bool:
    """Whether the accelerator copies from pinned memory without making the host wait."""
    try:
        return bool(torch.empty(1, pin_memory=True).is_pinned())
    except (RuntimeError, NotImplementedError):
        return False


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device had no memory left."""
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "out of memory" in str(error).lower()
    )
