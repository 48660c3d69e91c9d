"""Runs clients in this process, one cohort after another: the default, and the reference for faster engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.core.values import Event, Result, Task
from equipoise.engine.engine import cohorts
from equipoise.engine.node import READ_TOGETHER, Node
from equipoise.kind.site import Site


class Local:
    def __init__(self, site: Site) -> None:
        self._site, self._node = site, Node(site)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        groups = [[tasks[place] for place in cohort] for cohort in cohorts(self._site, tasks)]
        at_once = 1 if self._node.device.is_cpu else READ_TOGETHER
        for first in range(0, len(groups), at_once):
            yield from self._node.work(*groups[first : first + at_once])

    def take_events(self) -> list[Event]:
        return self._node.take_events()

    def close(self) -> None:
        pass
