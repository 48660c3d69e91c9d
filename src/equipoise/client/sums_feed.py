"""A client that trains nothing: its histories, from which a method forms the sums that it sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from equipoise.client.feed import Steps
from equipoise.core.clock import Clock
from equipoise.core.values import Indices, Labels, State
from equipoise.memory.windows import History


@dataclass(frozen=True)
class SumsFeed:
    """The histories of one client, over a catalogue of `n_items`."""

    histories: Sequence[History]
    n_items: int
    n_steps = 0

    @property
    def samples(self) -> int:
        """Number of targets."""
        return sum(history.last - history.first for history in self.histories)

    @property
    def counts(self) -> Labels:
        return np.array([self.samples])

    @property
    def rows(self) -> Indices | None:
        return None

    def observe(self, memory: State) -> None:
        """Nothing is trained, so that no objective remembers anything."""

    def unread(self) -> list[Tensor]:
        return []

    def settle(self, home: list[Tensor]) -> None:
        """Nothing was on the device."""

    def memory(self) -> State:
        return {}

    def report(self) -> State:
        return {}

    def numbers(self) -> Mapping[str, float]:
        return {}


@dataclass(frozen=True)
class SumsWork:
    """No client takes a step."""

    clock: Clock

    def steps(self, feeds: Sequence[SumsFeed], epoch: int) -> Iterator[Steps]:
        return iter(())

    def input_statistics(self, batch: object) -> Mapping[str, Tensor]:
        return {}
