"""Records of clients: the mean of every number over the checkpoint's steps, under its canonical name.

Numbers stay where they were computed. They are read every `READ_EVERY` steps and at the end, so that the host does not
wait for the device at each step; what is recorded does not depend on when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.device import Device
from equipoise.core.numbers import precise
from equipoise.core.values import Floats, Indices, Losses, Weighed

if TYPE_CHECKING:
    from equipoise.core.numbers import Number

Measurements = dict[str, float]
Columns = Mapping[str, Tensor | Floats]
"""Name → one number per client."""
LAST = ("lam", "schedule", "lam/used", "scale/base")
READ_EVERY = 64
"""Steps after which numbers are read."""


def numbers(losses: Losses, weighed: Sequence[Weighed], norms: Tensor, factors: Tensor) -> Columns:
    """One step's numbers. `grad/clip` is the factor that clipping multiplied the gradient by.

    `weighed` is empty if there is nothing to weigh.
    """
    found: dict[str, Tensor | Floats] = {
        "loss/base": losses.base,
        **{f"loss/{name}": part for name, part in losses.parts.items()},
        "accuracy/train": losses.hit,
        "grad/norm": norms,
        "grad/clip": factors,
        **losses.measured,
    }
    if losses.align is not None:
        found["loss/align"] = losses.align
        found["lam"] = _column([each.lam for each in weighed])
        found["schedule"] = _column([each.schedule for each in weighed])
        found["lam/used"] = _column([each.used for each in weighed])
        found["scale/base"] = _column([each.scale for each in weighed])
        found |= {name: _column([each.seen[name] for each in weighed]) for name in weighed[0].seen}
    return found


def _column(values: Sequence[Number]) -> Tensor | Floats:
    tensors = [precise(value.detach()) for value in values if isinstance(value, Tensor)]
    return torch.stack(tensors) if tensors else np.array(values, dtype=np.float64)


class NotFinite(NamedTuple):
    """A client's first number that is not finite: its name and value, the local step, and the numbers before it."""

    name: str
    value: float
    step: int
    before: Measurements


class _Unread(NamedTuple):
    names: tuple[str, ...]
    columns: Sequence[Tensor | Floats]
    who: Indices
    is_step: bool

    @property
    def block(self) -> object:
        """Steps with an equal block are read together; other numbers, which are few, one by one."""
        return (self.names, len(self.who)) if self.is_step else id(self)


class Trace:
    """For clients that train together: sum, number of steps and newest value, per name and client."""

    def __init__(self, clients: int, device: Device) -> None:
        self.clients, self.device = clients, device
        self.steps = np.zeros(clients, dtype=np.int64)
        self.not_finite: dict[int, NotFinite] = {}
        """Client → what stopped it, as far as numbers are settled."""
        self._read_steps = np.zeros(clients, dtype=np.int64)
        self._unread: list[_Unread] = []
        self._names: dict[str, int] = {}
        self._places: dict[tuple[str, ...], Indices] = {}
        self._sums, self._counts, self._last = (np.zeros((0, clients)) for _ in range(3))

    def step(self, columns: Columns) -> None:
        """Add the numbers of one step; entry k belongs to client k, and later clients may be missing."""
        n = len(next(iter(columns.values())))
        self.steps[:n] += 1
        self._put(columns, np.arange(n), is_step=True)
        if len(self._unread) >= READ_EVERY:
            self.settle(self.device.home(self.unread()))

    def add(self, columns: Columns, who: Indices) -> None:
        """Add numbers of some clients; entry k belongs to client who[k]."""
        if columns and len(who):
            self._put(columns, who, is_step=False)

    def _put(self, columns: Columns, who: Indices, is_step: bool) -> None:
        kept = [value.detach() if isinstance(value, Tensor) else value for value in columns.values()]
        self._unread.append(_Unread(tuple(columns), kept, who, is_step))

    def unread(self) -> list[dict[torch.dtype, Tensor]]:
        """The numbers that were not read, where they were computed."""
        return [_stacked(block) for block in self._blocks()]

    def settle(self, home: Sequence[Mapping[torch.dtype, Tensor]]) -> None:
        """Add up these numbers, which are on the CPU now, in the order in which they came."""
        for block, parts in zip(self._blocks(), home, strict=True):
            self._take(block, _table(block, parts))
        self._unread = []

    def _blocks(self) -> list[list[_Unread]]:
        return [list(block) for _, block in groupby(self._unread, key=lambda each: each.block)]

    def _take(self, block: Sequence[_Unread], table: Floats) -> None:
        """Add a table [steps, names, clients] of alike rows."""
        if block[0].is_step and not np.isfinite(table).all():
            for one, step in zip(block, table, strict=True):
                self._find_not_finite(one, step)
                self._add([one], step[None])
        else:
            self._add(block, table)

    def _add(self, block: Sequence[_Unread], table: Floats) -> None:
        where = np.ix_(self._rows(block[0].names), block[0].who)
        sums = self._sums[where]
        for step in table:
            sums += step
        self._sums[where], self._last[where] = sums, table[-1]
        self._counts[where] += len(table)
        self._read_steps[block[0].who] += len(table) * block[0].is_step

    def _find_not_finite(self, one: _Unread, step: Floats) -> None:
        finite = np.isfinite(step)
        for k in np.flatnonzero(~finite.all(0)).tolist():
            if k not in self.not_finite:
                row = int(finite[:, k].argmin())
                number = one.names[row], float(step[row, k]), int(self._read_steps[k])
                self.not_finite[k] = NotFinite(*number, self.last(k))

    def last(self, client: int) -> Measurements:
        """The client's newest number under each name, as far as numbers are settled."""
        return {name: float(self._last[k, client]) for name, k in self._names.items() if self._counts[k, client]}

    def means(self) -> list[Measurements]:
        """For every client: the mean of each number over the steps that had it, the last value of the λ policy's
        numbers as `…/last`, and the number of steps. All numbers must be settled."""
        names, seen = list(self._names), self._counts > 0
        means = (self._sums / np.maximum(self._counts, 1)).T.tolist()
        newest = [(name, f"{name}/last", self._last[k].tolist()) for name, k in self._names.items() if name in LAST]
        found = []
        for client, (row, steps) in enumerate(zip(means, self.steps.tolist(), strict=True)):
            own = dict(zip(names, row, strict=True))
            if not seen[:, client].all():
                own = {name: value for name, value in own.items() if seen[self._names[name], client]}
            own |= {last: values[client] for name, last, values in newest if name in own}
            found.append({**own, "steps": steps})
        return found

    def _rows(self, names: tuple[str, ...]) -> Indices:
        """The rows of these names; new names get a new row."""
        if names not in self._places:
            fresh = [name for name in names if name not in self._names]
            self._names |= {name: len(self._names) + k for k, name in enumerate(fresh)}
            more = np.zeros((len(fresh), self.clients))
            parts = (self._sums, self._counts, self._last)
            self._sums, self._counts, self._last = (np.concatenate([part, more]) for part in parts)
            self._places[names] = np.array([self._names[name] for name in names])
        return self._places[names]


def _stacked(block: Sequence[_Unread]) -> dict[torch.dtype, Tensor]:
    """The tensors of a block, one stack per type of number."""
    tensors = [value for one in block for value in one.columns if isinstance(value, Tensor)]
    kinds = dict.fromkeys(tensor.dtype for tensor in tensors)
    return {kind: torch.stack([tensor for tensor in tensors if tensor.dtype == kind]) for kind in kinds}


def _table(block: Sequence[_Unread], stacked: Mapping[torch.dtype, Tensor]) -> Floats:
    """[steps, names, clients]"""
    rows = {kind: iter(tensor.double().numpy()) for kind, tensor in stacked.items()}
    found: NDArray[np.float64] = np.empty((len(block), len(block[0].names), len(block[0].who)))
    for step, one in enumerate(block):
        for row, value in enumerate(one.columns):
            found[step, row] = next(rows[value.dtype]) if isinstance(value, Tensor) else value
    return found
