"""The losses of a client at each position of its histories, and their running level.

    level (m, d) ← (m, d) + 0.1·((mean, deviation of the step's losses) − (m, d))        the first step sets it

The level says which losses are usual for this client; what lies far above it is surprising.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.core.values import State
from equipoise.memory.product import FeatureRows

RATE = 0.1
"""Share of a step in the running mean and deviation of a client's losses."""
NEVER = -1
"""The loss of a position that was never trained on."""

Span = tuple[int, int, int]
"""(history, first target, last target + 1) of one window."""


class LossLevel:
    """`latest[k]` [n] are the latest losses of history k; `level` [2] is their running mean and deviation."""

    def __init__(self, own: State, lengths: Sequence[int]) -> None:
        self.level = own["level"].numpy().copy() if own else np.zeros(2, dtype=np.float32)
        self.latest = [_known(own, n) for n in lengths]

    def observe(self, found: FeatureRows, spans: Sequence[Span]) -> None:
        """Record the losses [W, T] of a step whose windows are `spans`."""
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
