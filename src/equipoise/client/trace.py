"""What clients write down: the mean over the checkpoint's steps of every number, under its canonical name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.values import Losses, Weighed

Numbers = dict[str, float]
Rows = dict[str, NDArray[np.float64]]
"""Name → one number per client."""
LAST = ("lam", "schedule", "lam/used", "scale/base")


def numbers(losses: Losses, weighed: Sequence[Weighed], norms: Tensor, factors: Tensor) -> Rows:
    """One step's numbers. `grad/clip` is the factor that clipping multiplied the gradient by.

    `weighed` is empty where no λ policy was asked.
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


def plain(tensors: Mapping[str, Tensor]) -> Rows:
    """Tensors of one number per client as they are written down."""
    if not tensors:
        return {}
    table = torch.stack([tensor.detach().float() for tensor in tensors.values()]).double().numpy()
    return dict(zip(tensors, table, strict=True))


@dataclass
class Block:
    """Numbers that come together: their sums [names, clients], in how many steps, and the newest."""

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    last: NDArray[np.float64]


@dataclass
class Trace:
    """Of all clients that train together."""

    clients: int
    steps: NDArray[np.int64] = field(init=False)
    _blocks: dict[tuple[str, ...], Block] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = np.zeros(self.clients, dtype=np.int64)

    def step(self, rows: Rows) -> None:
        """The numbers of a step of the first clients, as many as there are columns."""
        n = len(next(iter(rows.values())))
        self.steps[:n] += 1
        self.add(rows, np.arange(n))

    def add(self, rows: Rows, who: NDArray[np.int64]) -> None:
        """Numbers of some clients; column k is client who[k]'s."""
        if not rows or not len(who):
            return
        table = np.stack(list(rows.values()))
        block = self._blocks.get(tuple(rows)) or self._new(tuple(rows))
        block.sums[:, who] += table
        block.counts[who] += 1
        block.last[:, who] = table

    def last(self, client: int) -> Numbers:
        """The newest number of each name that the client has."""
        found: Numbers = {}
        for names, block in self._blocks.items():
            if block.counts[client]:
                found |= dict(zip(names, block.last[:, client].tolist(), strict=True))
        return found

    def means(self) -> list[Numbers]:
        """Of every client: the mean over the steps that had the number; of the λ policy's numbers the last step as
        well, as `…/last`; and how many steps there were."""
        found: list[Numbers] = [{} for _ in range(self.clients)]
        for names, block in self._blocks.items():
            kept = [(place, name) for place, name in enumerate(names) if name in LAST]
            rows = (block.sums / np.maximum(block.counts, 1)).T.tolist()
            for client in np.flatnonzero(block.counts).tolist():
                found[client].update(zip(names, rows[client], strict=True))
                found[client].update((f"{name}/last", float(block.last[place, client])) for place, name in kept)
        for numbers, steps in zip(found, self.steps.tolist(), strict=True):
            numbers["steps"] = steps
        return found

    def _new(self, names: tuple[str, ...]) -> Block:
        shape = (len(names), self.clients)
        self._blocks[names] = Block(np.zeros(shape), np.zeros(self.clients, dtype=np.int64), np.zeros(shape))
        return self._blocks[names]
