"""An engine is a place where clients run: it takes tasks and returns one result for each.

Results come cohort by cohort, which is the order of the tasks only if no clients train together; each result names its
client.

map(tasks) → results
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from equipoise.core.values import Event, Result, Task
from equipoise.kind.site import Site


class Engine(Protocol):
    """`map` may start work before its results are read; `take_events` returns the events since its last call: a lost
    worker, a client that was run again."""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]: ...

    def take_events(self) -> list[Event]: ...

    def close(self) -> None: ...


def cohorts(site: Site, tasks: Sequence[Task]) -> list[list[int]]:
    """Indices of the tasks that are worked on together: clients of similar size, the largest first.

    Questions are answered one by one.
    """
    if site.together == 1 or (tasks and tasks[0].question is not None):
        return [[place] for place in range(len(tasks))]
    sizes = [site.samples(task.client) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda place: -sizes[place])
    return [order[first : first + site.together] for first in range(0, len(order), site.together)]
