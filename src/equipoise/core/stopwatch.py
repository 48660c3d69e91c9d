"""Measures where a process spends its time, in laps; every second belongs to one lap.

lap(name): the time since the previous lap belongs to `name`        off, at no cost, until it is started
"""

from __future__ import annotations

from time import perf_counter

WORKERS = "workers/"
"""Prefix for the names of other processes' laps."""


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
        """Add time that another process spent."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def take(self) -> dict[str, float]:
        """The seconds counted since the last call."""
        seconds, self.seconds = self.seconds, {}
        return seconds

    def stop(self) -> dict[str, float]:
        self.is_on = False
        return self.take()


WATCH = Stopwatch()
"""The stopwatch of this process."""
