"""A client's finished task, from which a method makes its report or the state that the client keeps.

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
    """The learning rates of all steps since the client last started from the server's model."""
    momentum: float
    """ρ of SGD; 0 for an optimiser that takes the mean of its gradients."""
    network: nn.Module
    feed: Any
    personal: frozenset[str] = frozenset()
    """Weights that must not leave the client."""
    trained: frozenset[str] | None = None
    """The weights that were trained; None: all."""

    def has_trained(self, name: str) -> bool:
        return self.trained is None or name in self.trained

    @property
    def start(self) -> State:
        """The weights before training."""
        return {**self.task.shared, **self.task.own.model}

    @property
    def reach(self) -> float:
        """How far a client moves under a gradient of 1 at every step: Σ_j η_j·(1 − ρ^j)/(1 − ρ), j = 1, 2, …

        Without momentum it is the number of steps times the learning rate.
        """
        steps = np.arange(1, len(self.rates) + 1)
        return float((self.rates * (1 - self.momentum**steps)).sum() / (1 - self.momentum))

    def own(self) -> OwnSamples:
        """All the client's own samples, with the trained model's outputs on them."""
        found: OwnSamples = self.feed.own(self.network, [self.model])
        return found


Report = Callable[[Finished], State]
