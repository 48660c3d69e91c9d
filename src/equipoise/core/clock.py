"""The clock of a run: which epochs each checkpoint covers, and how far the whole run is.

    p = (epochs done + share of this epoch done) / epochs planned, of the whole run, never of one round

With one-shot communication `epochs` are spread over the checkpoints, which only observe; with rounds each round
trains `epochs` of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Share = TypeVar("Share", float, NDArray[np.float64])


@dataclass(frozen=True)
class Clock:
    """Checkpoint indices are steps 0 … steps-1; epochs are numbered through the whole run."""

    steps: int
    epochs: int

    def span(self, step: int) -> range:
        """The epochs that lie between the previous checkpoint and this one.

        >>> [list(Clock(steps=2, epochs=5).span(step)) for step in range(2)]
        [[0, 1], [2, 3, 4]]
        """
        return range(self.epochs * step // self.steps, self.epochs * (step + 1) // self.steps)

    def progress(self, epoch: int, share: Share) -> Share:
        """p in [0, 1) at `share` of the way through `epoch`; `share` may hold one number per client."""
        return (epoch + share) / self.epochs
