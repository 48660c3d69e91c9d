"""Runs clients in this process, one cohort after another: the default, and the reference for faster engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.core.values import Event, Result, Task
from equipoise.engine.engine import cohorts
from equipoise.engine.node import Node
from equipoise.kind.site import Site


class Local:
    def __init__(self, site: Site) -> None:
        self._site, self._node = site, Node(site)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        for cohort in cohorts(self._site, tasks):
            yield from self._node.work([tasks[place] for place in cohort])

    def take_events(self) -> list[Event]:
        return []

    def close(self) -> None:
        pass
