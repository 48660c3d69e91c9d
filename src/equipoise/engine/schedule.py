"""The cohorts of one step: which are waiting, which are answered, and what becomes of those of a lost worker.

    the largest first → given out → answered, or lost: run again (rerun) | left out (drop) | the run fails

Results come in the order of the cohorts, whichever worker finishes first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from equipoise.core.errors import EngineError
from equipoise.core.values import ClientFailure, Event, Result, Task
from equipoise.engine.engine import cohorts
from equipoise.engine.settings import WorkerOptions
from equipoise.kind.site import Site

Answer = Callable[[], list[Result]]
"""Results that are decoded when they are read."""


class Turn(NamedTuple):
    """A cohort that is worked on: its place in the order, and how often it was lost before."""

    place: int
    attempt: int


@dataclass(frozen=True)
class Schedule:
    groups: Sequence[Sequence[Task]]
    sizes: Sequence[int]
    """Samples of each cohort."""
    waiting: deque[Turn]
    done: dict[int, Answer]

    @classmethod
    def of(cls, site: Site, tasks: Sequence[Task]) -> Schedule:
        groups = [[tasks[place] for place in cohort] for cohort in cohorts(site, tasks)]
        sizes = [sum(site.samples(task.client) for task in group) for group in groups]
        order = sorted(range(len(groups)), key=lambda place: -sizes[place])
        return cls(groups, sizes, deque(Turn(place, 0) for place in order), {})

    @property
    def step(self) -> int:
        return self.groups[0][0].step

    def clients(self, turn: Turn) -> str:
        return ", ".join(str(task.client) for task in self.groups[turn.place])

    def results(self, give_out: Callable[[Schedule], None], collect: Callable[[Schedule], None]) -> Iterator[Result]:
        """Give out cohorts and collect answers until all are there."""
        for place in range(len(self.groups)):
            while place not in self.done:
                give_out(self)
                collect(self)
            give_out(self)  # give out the next cohort before reading the last answer
            yield from self.done.pop(place)()

    def lost(self, turn: Turn, what: str, options: WorkerOptions) -> list[Event]:
        """Run a lost cohort again or drop it, as the options say; the events to record. The last attempt raises."""
        group = self.groups[turn.place]
        if options.on_death == "drop":
            failed: list[Result] = [ClientFailure(task.client, "worker-lost", f"{what}; dropped") for task in group]
            self.done[turn.place] = lambda: failed
            return []
        if turn.attempt >= options.retries:
            where, fix = f"checkpoint {self.step + 1}", "set engine.on_death=drop, or engine.retries higher"
            text = f"{what}; that was attempt {turn.attempt + 1}"
            raise EngineError(text, where=where, fix=f"look for a memory limit; or {fix}")
        self.waiting.appendleft(Turn(turn.place, turn.attempt + 1))
        return [Event("worker-lost", f"{what}; run again", self.step, task.client) for task in group]
