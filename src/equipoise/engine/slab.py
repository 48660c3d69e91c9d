"""Tensors in memory that two processes share: one writes, then the other reads, never both at the same time.

A slab is an unlinked file that both have open, as large as the largest message so far. The socket carries the place of
each tensor; the numbers are copied once in and once out, and nothing is pickled.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from equipoise.core.values import State

MEMORY, ALIGN = "/dev/shm", 64
Place = Sequence[Any]
"""(offset, type, shape) of one tensor."""


def anonymous_file(size: int) -> int:
    """The descriptor of an unnamed file, which disappears when the last process that has it open ends."""
    descriptor, path = tempfile.mkstemp(dir=MEMORY if _has_room(MEMORY, size) else None)
    os.unlink(path)
    return descriptor


def _has_room(folder: str, size: int) -> bool:
    """Containers often have a small /dev/shm; a file in the temporary folder is shared by the page cache as well."""
    if not os.path.isdir(folder):
        return False
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize > 2 * size


class Slab:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory: mmap.mmap | None = None

    def write(self, tensors: State) -> dict[str, Place]:
        """Write all tensors over the previous content; returns the place of each."""
        places: dict[str, Place] = {}
        end = 0
        for name, tensor in tensors.items():
            offset = -(-end // ALIGN) * ALIGN
            places[name] = (offset, str(tensor.dtype).removeprefix("torch."), list(tensor.shape))
            end = offset + tensor.nbytes
        if end > os.fstat(self.descriptor).st_size:
            os.ftruncate(self.descriptor, end)
        for name, tensor in tensors.items():
            self._at(places[name]).copy_(tensor.detach())
        return places

    def read(self, places: Mapping[str, Place], copies: bool = True) -> dict[str, Tensor]:
        """The tensors at those places; without copies they change when the slab is written again."""
        found = {name: self._at(place) for name, place in places.items()}
        return {name: tensor.clone() for name, tensor in found.items()} if copies else found

    def _at(self, place: Place) -> Tensor:
        offset, dtype, shape = place
        kind, count = getattr(torch, dtype), prod(shape)
        if count == 0:
            return torch.empty(shape, dtype=kind)
        if self._memory is None or offset + count * kind.itemsize > len(self._memory):
            self._memory = mmap.mmap(self.descriptor, os.fstat(self.descriptor).st_size)
        return torch.frombuffer(self._memory, dtype=kind, count=count, offset=offset).view(shape)

    def close(self) -> None:
        os.close(self.descriptor)
