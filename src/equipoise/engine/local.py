"""In this process, one client after another: the default, and the readable twin of every faster engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.config.blocks import EngineOptions
from equipoise.core.registry import ENGINES
from equipoise.core.values import Event, Task
from equipoise.engine.engine import Result, Site, make_work


class LocalOptions(EngineOptions):
    name: str = "local"


@ENGINES.register("local", aliases=("sequential",), options=LocalOptions)
class Local:
    def __init__(self, site: Site) -> None:
        self._work = make_work(site)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        return map(self._work, tasks)

    def take_events(self) -> list[Event]:
        return []

    def close(self) -> None:
        pass
