"""A part of a story: a sentence, a small table or none, and the numbers behind both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from equipoise.report.statistics import Difference, MeanStd, mean_std

if TYPE_CHECKING:
    from equipoise.diagnose.finding import Finding

Seeds: TypeAlias = Mapping[int, float]
"""Seed → a number of its run; accuracies are shares of one."""
CONTROL = "untrained control"
"""Name of the row that trains nothing, in every table."""


@dataclass(frozen=True)
class StoryPart:
    """What is printed, and as `numbers` the same unrounded."""

    name: str
    says: str
    numbers: Sequence[Mapping[str, Any]]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Empty if all rows would say the same; then the sentence has the numbers."""
    finding: Finding | None = None
    diagnosed: str = ""
    """The run that the finding is about."""

    def to_json(self) -> dict[str, Any]:
        found = {} if self.finding is None else {"diagnosed": self.diagnosed, "finding": self.finding.to_json()}
        return {"name": self.name, "says": self.says, "rows": [dict(row) for row in self.numbers], **found}


@dataclass(frozen=True)
class Story:
    title: str
    parts: Sequence[StoryPart]

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "parts": [part.to_json() for part in self.parts]}


def average(found: Seeds) -> MeanStd:
    return mean_std(list(found.values()))


def accuracy(figure: MeanStd) -> str:
    """97.7 ± 0.8, in per cent."""
    mean = f"{100 * figure.mean:.1f}"
    return mean if math.isnan(figure.std) else f"{mean} ± {100 * figure.std:.1f}"


def points(difference: Difference | None) -> str:
    """-18.3 [-26.5, -10.1] *, in points; * means that the interval excludes zero."""
    return "–" if difference is None else interval(difference) + " *" * difference.is_clear


def interval(difference: Difference) -> str:
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def between(figures: Sequence[float]) -> str:
    """at 97.7 %, or between 97.5 and 97.9 %."""
    low, high = f"{100 * min(figures):.1f}", f"{100 * max(figures):.1f}"
    return f"at {low} %" if low == high else f"between {low} and {high} %"


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
