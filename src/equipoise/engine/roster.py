"""What the server may know about its clients: their number, their sizes, and which are idle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.core.values import Labels


@dataclass(frozen=True)
class Roster:
    n_clients: int
    counts: Callable[[int], Labels]
    """Client → its number of samples of each class."""
    is_idle: Callable[[int, int], bool]
    """(client, step) → whether the client has nothing to train on at that step."""
    is_listed: bool = True
    """Whether all clients can be iterated over; False if they are generated on demand."""

    def samples(self, client: int) -> int:
        return int(self.counts(client).sum())
