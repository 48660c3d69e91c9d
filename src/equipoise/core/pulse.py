"""How far the clients are that train just now, for whoever draws a bar: written by training loops, read by anybody.

    beat(n)   this process has done the work of n clients of its cohort, as a share        read() = Σ over all processes

Worker processes beat into eight bytes of memory that they share with their parent; nobody waits for anybody.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable

SIZE = struct.calcsize("d")


def nobody() -> float:
    return 0.0


class Pulse:
    def __init__(self) -> None:
        self._clients = 0.0
        self._shared: mmap.mmap | None = None
        self.others: Callable[[], float] = nobody
        """What other processes have done, where there are any."""

    def share(self, descriptor: int) -> None:
        """From now on other processes see it too."""
        self._shared = mmap.mmap(descriptor, SIZE)

    def beat(self, clients: float) -> None:
        self._clients = clients
        if self._shared is not None:
            struct.pack_into("d", self._shared, 0, clients)

    def read(self) -> float:
        return self._clients + self.others()


def seen_in(memory: mmap.mmap) -> float:
    """What another process has beaten into its memory; nothing once that is gone."""
    return 0.0 if memory.closed else float(struct.unpack_from("d", memory, 0)[0])


PULSE = Pulse()
"""This process's."""
