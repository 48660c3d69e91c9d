"""A client's task after its training, as the method sees it that makes a report of it or keeps something of it.

Report: Finished → tensors        sent to the server beside the model, or kept for the client's next task
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from equipoise.client.own import OwnSamples
from equipoise.core.values import State, Task


@dataclass(frozen=True)
class Finished:
    task: Task
    model: State
    """The weights after training."""
    memory: State
    """What the client remembered while it trained."""
    n_steps: int
    lr: float
    """Of the last step."""
    network: nn.Module
    feed: Any

    @property
    def start(self) -> State:
        """The weights before training."""
        return {**self.task.shared, **self.task.own.model}

    def own(self) -> OwnSamples:
        """All the client's own samples, seen through the trained model."""
        found: OwnSamples = self.feed.own(self.network, [self.model])
        return found


Report = Callable[[Finished], State]
