"""The losses of a client at each position of its histories, and their running level.

    level (m, d) ← (m, d) + 0.1·((mean, deviation of the step's losses) − (m, d))        the first step sets it

The level says which losses are usual for this client; what lies far above it is surprising. On a device the level of
the next step is computed there, and the losses are read when the task is over: no step waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from equipoise.core.device import Device
from equipoise.core.values import State
from equipoise.memory.product import FeatureRows

RATE = 0.1
"""Share of a step in the running mean and deviation of a client's losses."""
NEVER = -1
"""The loss of a position that was never trained on."""

Span = tuple[int, int, int]
"""(history, first target, last target + 1) of one window."""


class LossLevel:
    """`latest[k]` [n] are the latest losses of history k; `level` [2] is their running mean and deviation.

    Both are those of the steps that were read; `level_there` is the level after the last step, on the device.
    """

    def __init__(self, own: State, lengths: Sequence[int], device: Device) -> None:
        self.device = device
        self.level = own["level"].numpy().copy() if own else np.zeros(2, dtype=np.float32)
        self.latest = [_known(own, n) for n in lengths]
        self._unread: list[tuple[Tensor, Sequence[Span]]] = []
        self._there = device.there(torch.from_numpy(self.level.copy()))

    @property
    def level_there(self) -> Tensor:
        return torch.from_numpy(self.level.copy()) if self.device.is_cpu else self._there

    def observe(self, found: Tensor, spans: Sequence[Span]) -> None:
        """Take the losses [W, T] of a step whose windows are `spans`."""
        if self.device.is_cpu:
            return self._record(found.numpy(), spans)
        self._unread.append((found, spans))
        losses = torch.cat([found[row, : b - a] for row, (_, a, b) in enumerate(spans)])
        now = torch.stack([losses.mean(), losses.std(correction=0)])
        self._there = torch.where(self._there[1] == 0, now, self._there + RATE * (now - self._there))
        return None

    def unread(self) -> list[Tensor]:
        """The losses of the steps that were not recorded."""
        return [losses for losses, _ in self._unread]

    def settle(self, home: Sequence[Tensor]) -> None:
        """Record these losses, which are on the CPU now."""
        for losses, (_, spans) in zip(home, self._unread, strict=True):
            self._record(losses.numpy(), spans)
        self._unread = []

    def _record(self, found: FeatureRows, spans: Sequence[Span]) -> None:
        seen = [found[row, : b - a] for row, (_, a, b) in enumerate(spans)]
        for losses, (k, a, b) in zip(seen, spans, strict=True):
            self.latest[k][a:b] = losses
        everything = np.concatenate(seen)
        now = np.array([everything.mean(), everything.std()], dtype=np.float32)
        self.level = now if self.level[1] == 0 else self.level + np.float32(RATE) * (now - self.level)


def _known(own: State, n: int) -> FeatureRows:
    """The losses of the client's last task; −1 where there is none."""
    losses = np.full(n, NEVER, dtype=np.float32)
    if "loss" in own:
        before = own["loss"].numpy()
        losses[: len(before)] = before
    return losses
