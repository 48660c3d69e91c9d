"""Records of clients: the mean of every number over the checkpoint's steps, under its canonical name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.values import Losses, Weighed

Measurements = dict[str, float]
ClientColumns = dict[str, NDArray[np.float64]]
"""Name → one number per client."""
LAST = ("lam", "schedule", "lam/used", "scale/base")


def numbers(losses: Losses, weighed: Sequence[Weighed], norms: Tensor, factors: Tensor) -> ClientColumns:
    """One step's numbers. `grad/clip` is the factor that clipping multiplied the gradient by.

    `weighed` is empty if there is nothing to weigh.
    """
    align = {} if losses.align is None else {"loss/align": losses.align}
    found = {
        "loss/base": losses.base,
        **{f"loss/{name}": part for name, part in losses.parts.items()},
        "accuracy/train": losses.hit,
        "grad/norm": norms,
        "grad/clip": factors,
        **losses.measured,
        **align,
    }
    rows = plain(found)
    if losses.align is not None:
        rows["lam"] = np.array([each.lam for each in weighed])
        rows["schedule"] = np.array([each.schedule for each in weighed])
        rows["lam/used"] = np.array([each.used for each in weighed])
        rows["scale/base"] = np.array([each.scale for each in weighed])
        rows |= {name: np.array([each.seen[name] for each in weighed]) for name in weighed[0].seen}
    return rows


def plain(tensors: Mapping[str, Tensor]) -> ClientColumns:
    """Tensors with one number per client, as arrays to record."""
    if not tensors:
        return {}
    table = torch.stack([tensor.detach().float() for tensor in tensors.values()]).double().numpy()
    return dict(zip(tensors, table, strict=True))


class Trace:
    """For clients that train together: sum, number of steps and newest value, per name and client."""

    def __init__(self, clients: int) -> None:
        self.clients = clients
        self.steps = np.zeros(clients, dtype=np.int64)
        self._names: dict[str, int] = {}
        self._places: dict[tuple[str, ...], NDArray[np.int64]] = {}
        self._sums, self._counts, self._last = (np.zeros((0, clients)) for _ in range(3))

    def step(self, rows: ClientColumns) -> None:
        """Add the numbers of one step; column k belongs to client k, and later clients may be missing."""
        n = len(next(iter(rows.values())))
        self.steps[:n] += 1
        self.add(rows, np.arange(n))

    def add(self, rows: ClientColumns, who: NDArray[np.int64]) -> None:
        """Add numbers of some clients; column k belongs to client who[k]."""
        if not rows or not len(who):
            return
        table, where = np.stack(list(rows.values())), np.ix_(self._rows(tuple(rows)), who)
        self._sums[where] += table
        self._counts[where] += 1
        self._last[where] = table

    def last(self, client: int) -> Measurements:
        """The client's newest number under each name."""
        return {name: float(self._last[k, client]) for name, k in self._names.items() if self._counts[k, client]}

    def means(self) -> list[Measurements]:
        """For every client: the mean of each number over the steps that had it, the last value of the λ policy's
        numbers as `…/last`, and the number of steps."""
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

    def _rows(self, names: tuple[str, ...]) -> NDArray[np.int64]:
        """The rows of these names; new names get a new row."""
        if names not in self._places:
            fresh = [name for name in names if name not in self._names]
            self._names |= {name: len(self._names) + k for k, name in enumerate(fresh)}
            more = np.zeros((len(fresh), self.clients))
            parts = (self._sums, self._counts, self._last)
            self._sums, self._counts, self._last = (np.concatenate([part, more]) for part in parts)
            self._places[names] = np.array([self._names[name] for name in names])
        return self._places[names]
