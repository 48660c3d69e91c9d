"""Times two ways of doing the same work in turns and reports their ratio.

    turns: ours, theirs, ours, theirs, …         the first pair warms up and does not count
    ratio = median over pairs                    spread = smallest and largest

The outcome of both sides is scored too, usually as a loss. If the two scores differ, the two sides did different work.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Side = Callable[[], Any]
"""Does the work once. Its outcome is scored after the clock has stopped."""


@dataclass(frozen=True)
class Goal:
    """The goal of a ratio: at least, for a speed-up; at most, for a cost."""

    kind: Literal["at least", "at most"]
    value: float

    def is_met(self, ratio: float) -> bool:
        return ratio >= self.value if self.kind == "at least" else ratio <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.value:g}"


@dataclass(frozen=True)
class BenchmarkResult:
    """One line of the table. `ours` and `theirs` are medians in `unit`; `figures` are the scores of both outcomes.

    `limit` is the ratio of bare processes that only train, where they were timed in the same run.
    """

    name: str
    what: str
    ratio: float
    spread: tuple[float, float]
    ours: float
    theirs: float
    goal: Goal
    unit: str = "s"
    figures: tuple[float, float] | None = None
    tolerance: float = 1e-3
    note: str = ""
    limit: float | None = None

    @property
    def is_met(self) -> bool:
        return self.goal.is_met(self.ratio)

    @property
    def is_alike(self) -> bool:
        """Whether both outcomes have the same score, within the tolerance."""
        if self.figures is None:
            return True
        ours, theirs = self.figures
        return abs(ours - theirs) <= self.tolerance * max(abs(ours), abs(theirs), 1e-12)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"goal": str(self.goal), "is_met": self.is_met, "is_alike": self.is_alike}


SETTLE = 0.5
"""Seconds before a side begins: the threads of the side before it go on spinning for a while, on cores it needs."""


@dataclass
class Timing:
    """The seconds of one side, and the score of its last outcome."""

    way: Side
    seconds: list[float] = field(default_factory=list)
    figure: float = 0.0

    def go(self) -> Any:
        time.sleep(SETTLE)
        began = time.perf_counter()
        found = self.way()
        self.seconds.append(time.perf_counter() - began)
        return found

    @property
    def median(self) -> float:
        return statistics.median(self.seconds[1:])


def by_turns(ways: Sequence[Side], repeats: int, score: Callable[[Any], float] = float) -> list[Timing]:
    """Run every side once to warm up, then all of them in turns, `repeats` times; score the last outcome of each."""
    found = [Timing(way) for way in ways]
    for _ in range(repeats):
        for one in found:
            one.go()
    for one in found:
        one.figure = score(one.go())
    return found


def speedup(ours: Timing, theirs: Timing) -> float:
    """The median over pairs of theirs/ours, without the first pair."""
    return statistics.median(t / o for o, t in zip(ours.seconds[1:], theirs.seconds[1:], strict=True))


def compared(name: str, what: str, ours: Timing, theirs: Timing, goal: Goal, **more: Any) -> BenchmarkResult:
    """The result of two sides that took turns, without the first pair."""
    more = {"figures": (ours.figure, theirs.figure), **more}
    return paired(name, what, (ours.seconds[1:], theirs.seconds[1:]), goal, **more)


def paired(
    name: str, what: str, sides: tuple[Sequence[float], Sequence[float]], goal: Goal, **more: Any
) -> BenchmarkResult:
    """The result of pairs of seconds. The ratio is theirs/ours for an "at least" goal, ours/theirs for "at most"."""
    ours, theirs = sides
    ratios = [t / o if goal.kind == "at least" else o / t for o, t in zip(ours, theirs, strict=True)]
    medians, spread = (statistics.median(ours), statistics.median(theirs)), (min(ratios), max(ratios))
    return BenchmarkResult(name, what, statistics.median(ratios), spread, *medians, goal, **more)
