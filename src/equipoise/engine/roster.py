"""What a server may know of its clients: how many there are, how much each has, and who has nothing to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.core.values import Labels


@dataclass(frozen=True)
class Roster:
    n_clients: int
    counts: Callable[[int], Labels]
    """Client → its samples of each class."""
    is_idle: Callable[[int, int], bool]
    """(client, step) → whether it has nothing to train on then."""
    is_listed: bool = True
    """Whether all clients can be gone through; not where they are drawn when they are asked for."""

    def samples(self, client: int) -> int:
        return int(self.counts(client).sum())
