"""A step of machines in progress: who has what to do, and what has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from equipoise.core.values import ClientFailure, Result, Task
from equipoise.engine.flower.parcel import Parcel


@dataclass
class MachineWork:
    """What one machine has to do in a step: places of its tasks, cohort by cohort."""

    groups: list[list[int]]
    parcel: Parcel
    attempts: int = 0

    @property
    def places(self) -> list[int]:
        return [place for group in self.groups for place in group]


@dataclass
class Step:
    """A step in progress."""

    tasks: Sequence[Task]
    began: float
    works: dict[int, MachineWork]
    """By machine; gone when its results are here."""
    sent: dict[str, int] = field(default_factory=dict)
    """Messages without an answer, and their machines."""
    lost: set[int] = field(default_factory=set)
    """Machines that get their work again when they are back."""
    done: dict[int, Result] = field(default_factory=dict)
    """Place of a task → its result."""

    @property
    def is_question(self) -> bool:
        return bool(self.tasks) and self.tasks[0].question is not None

    @property
    def waiting(self) -> list[int]:
        """Places of the tasks whose results are still to come."""
        return [place for work in self.works.values() for place in work.places]

    def fail(self, places: Sequence[int], kind: str, why: str) -> None:
        for place in places:
            self.done[place] = ClientFailure(self.tasks[place].client, kind, why)
