"""A client's own data for one task, and what the clients of a run have in common: their data as steps.

work.steps(feeds, epoch) → one step after another    observe ← what the objective wants kept    memory → what is kept
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
        """Of one epoch."""

    @property
    def rows(self) -> Indices | None:
        """The rows of the model's tables that the client holds; None: all."""

    def observe(self, memory: State) -> None: ...

    def memory(self) -> State: ...

    def report(self) -> State:
        """What the client's data has to say to the server after the task."""

    def numbers(self) -> Mapping[str, float]:
        """What is recorded beside the numbers of the steps."""


class Work(Protocol):
    """What the feeds of a run have in common."""

    @property
    def clock(self) -> Clock: ...

    def steps(self, feeds: Sequence[Any], epoch: int) -> Iterator[Steps]:
        """The epoch of several clients side by side. The longest come first, so those who are done are at the end.

        Epochs are gone through together: whoever is done earlier waits, so that the schedules of all are at one place.
        """

    def input_statistics(self, batch: Any) -> Mapping[str, Tensor]:
        """What is recorded of the first batch of a task, one number per client."""
