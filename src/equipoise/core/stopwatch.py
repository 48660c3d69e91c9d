"""Where a process spends its time: laps, in which every second is counted once.

lap(name): what has passed since the lap before belongs to `name`        off, and free, until it is started
"""

from __future__ import annotations

from time import perf_counter

WORKERS = "workers/"
"""What the laps of other processes are called by, in front of their names."""


class Stopwatch:
    def __init__(self) -> None:
        self.is_on = False
        self.seconds: dict[str, float] = {}
        self._since = 0.0

    def start(self) -> None:
        self.is_on, self.seconds, self._since = True, {}, perf_counter()

    def lap(self, name: str) -> None:
        if self.is_on:
            now = perf_counter()
            self.add(name, now - self._since)
            self._since = now

    def add(self, name: str, seconds: float) -> None:
        """Time that another process spent."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def take(self) -> dict[str, float]:
        """What was counted since it was last taken."""
        seconds, self.seconds = self.seconds, {}
        return seconds

    def stop(self) -> dict[str, float]:
        self.is_on = False
        return self.take()


WATCH = Stopwatch()
"""This process's."""
