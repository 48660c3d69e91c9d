"""A client's own data, as the steps of one task.

steps → (number in the run, when, what was drawn)    observe ← what the objective wants kept    memory → what is kept
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from equipoise.core.clock import Clock
from equipoise.core.values import Indices, Labels, Moment, State


class Step(NamedTuple):
    """One step of the optimiser: its number in the whole run, when it is, and what was drawn for it."""

    number: int
    moment: Moment
    drawn: Any


class Work(Protocol):
    """What the feeds of a run have in common."""

    @property
    def clock(self) -> Clock: ...

    @property
    def tells(self) -> bool:
        """Whether clients report what their trained model sees in their own data."""

    def collate(self, drawn: Sequence[Any]) -> Any:
        """The batch of one step of several clients, every tensor with their axis in front."""

    def entering(self, batch: Any) -> Mapping[str, Tensor]:
        """What is recorded of the first batch of a task, one number per client."""


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

    def steps(self, epoch: int) -> Iterator[Step]: ...

    def observe(self, memory: State) -> None: ...

    def memory(self) -> State: ...

    def told(self, model: nn.Module) -> State:
        """What the client reports of its own data when it has trained; `model` has its weights if it is asked to."""

    def numbers(self) -> Mapping[str, float]:
        """What is recorded beside the numbers of the steps."""


def lockstep(feeds: Sequence[Feed], epoch: int) -> Iterator[list[Step]]:
    """The next step of everybody who has one. Feeds are ordered by length, so those who are done are at the end.

    Epochs are gone through together: whoever is done earlier waits, so that the schedules of all are at one place.
    """
    going = [feed.steps(epoch) for feed in feeds]
    while going:
        steps = [step for step in (next(feed, None) for feed in going) if step is not None]
        going = going[: len(steps)]
        if steps:
            yield steps
