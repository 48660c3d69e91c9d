"""The progress of the clients in training: training loops write it, progress bars read it.

    beat(n)   this process has done the work of n clients of its cohort, as a share        read() = Σ over all processes

A worker process writes to eight bytes that it shares with its parent; neither waits for the other.
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
        """The progress of other processes, if there are any."""

    def share(self, descriptor: int) -> None:
        """Make the progress visible to other processes from now on."""
        self._shared = mmap.mmap(descriptor, SIZE)

    def beat(self, clients: float) -> None:
        self._clients = clients
        if self._shared is not None:
            struct.pack_into("d", self._shared, 0, clients)

    def read(self) -> float:
        return self._clients + self.others()


def seen_in(memory: mmap.mmap) -> float:
    """The progress that another process wrote to its memory; 0 once the memory is closed."""
    return 0.0 if memory.closed else float(struct.unpack_from("d", memory, 0)[0])


PULSE = Pulse()
"""The progress of this process."""
