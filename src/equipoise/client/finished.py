"""A client's task after its training, as the method sees it that makes a report of it or keeps something of it.

Report: Finished → tensors        sent to the server beside the model, or kept for the client's next task
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from equipoise.client.own import OwnSamples
from equipoise.core.values import Floats, State, Task


@dataclass(frozen=True)
class Finished:
    task: Task
    model: State
    """The weights after training."""
    memory: State
    """What the client remembered while it trained."""
    rates: Floats
    """The learning rate of every step since the client last began with the server's model."""
    momentum: float
    """ρ of SGD; 0 for an optimiser that takes the mean of its gradients."""
    network: nn.Module
    feed: Any
    personal: frozenset[str] = frozenset()
    """Weights that must not leave the client."""

    @property
    def start(self) -> State:
        """The weights before training."""
        return {**self.task.shared, **self.task.own.model}

    @property
    def reach(self) -> float:
        """How far a client comes along a gradient that is 1 at every step: Σ_j η_j·(1 − ρ^j)/(1 − ρ), j = 1, 2, …

        Without momentum it is the number of steps times the learning rate.
        """
        steps = np.arange(1, len(self.rates) + 1)
        return float((self.rates * (1 - self.momentum**steps)).sum() / (1 - self.momentum))

    def own(self) -> OwnSamples:
        """All the client's own samples, seen through the trained model."""
        found: OwnSamples = self.feed.own(self.network, [self.model])
        return found


Report = Callable[[Finished], State]
