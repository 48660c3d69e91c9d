"""A client's own data, as the steps of one task.

steps → (number in the run, when, batch)      observe ← what the objective wants kept      memory → what is kept
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from torch import nn

from equipoise.core.values import Indices, Labels, Moment, State


class Step(NamedTuple):
    """One step of the optimiser: its number in the whole run, when it is, and what is learnt from."""

    number: int
    moment: Moment
    batch: Any


class Feed(Protocol):
    """`samples` weighs the client in a merge; `counts` are its samples of each class."""

    @property
    def samples(self) -> int: ...

    @property
    def counts(self) -> Labels: ...

    @property
    def n_steps(self) -> int: ...

    @property
    def rows(self) -> Indices | None:
        """The rows of the model's tables that the client holds; None: all."""

    def steps(self) -> Iterator[Step]: ...

    def observe(self, memory: State) -> None: ...

    def memory(self) -> State: ...

    def told(self, model: nn.Module) -> State:
        """What the client reports of its own data when it has trained."""

    def numbers(self) -> Mapping[str, float]:
        """What is recorded beside the numbers of the steps."""


def lockstep(feeds: Sequence[Feed]) -> Iterator[list[Step]]:
    """The next step of everybody who has one. Feeds are ordered by length, so those who are done are at the end."""
    going = [feed.steps() for feed in feeds]
    while going:
        steps = [step for step in (next(feed, None) for feed in going) if step is not None]
        going = going[: len(steps)]
        if steps:
            yield steps
