"""Protocols for training data: a client's data for one task, and the steps of several clients.

work.steps(feeds, epoch) → steps    feed.observe ← the objective's memory    feed.memory → what the client keeps
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.clock import Clock
from equipoise.core.values import Indices, Labels, State


class Steps(NamedTuple):
    """One step of the first clients: its number in each one's run, the progress of each, the epoch, and the batch.

    Every tensor of the batch has the clients' axis in front.
    """

    numbers: NDArray[np.int64]
    progress: NDArray[np.float64]
    epoch: int
    batch: Any


class Feed(Protocol):
    """`samples` weighs the client in a merge; `counts` are its samples of each class."""

    @property
    def samples(self) -> int: ...

    @property
    def counts(self) -> Labels: ...

    @property
    def n_steps(self) -> int:
        """The number of steps in an epoch."""

    @property
    def rows(self) -> Indices | None:
        """The rows of the model's tables that the client holds; None: all."""

    def observe(self, memory: State) -> None:
        """Take what the objective remembers after a step; it may be on the device."""

    def unread(self) -> Any:
        """The tensors on the device that `memory` needs, in nested mappings and sequences."""

    def settle(self, home: Any) -> None:
        """Take these tensors on the CPU, when the task is over."""

    def memory(self) -> State:
        """What the client keeps for its next task, on the CPU; after `settle`."""

    def report(self) -> State:
        """What the client reports about its data to the server after the task."""

    def numbers(self) -> Mapping[str, float]:
        """Numbers to record beside those of the steps."""


class Work(Protocol):
    """What the feeds of a run share."""

    @property
    def clock(self) -> Clock: ...

    def steps(self, feeds: Sequence[Any], epoch: int) -> Iterator[Steps]:
        """One epoch of several clients side by side. Clients with most steps come first, finished ones are at the end.

        Clients stay in step by epoch: one that finishes earlier waits, so that all schedules are at the same point.
        """

    def input_statistics(self, batch: Any) -> Mapping[str, Tensor]:
        """Statistics of a task's first batch to record, one number per client."""
