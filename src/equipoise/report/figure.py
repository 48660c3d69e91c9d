"""The figures of a report as plain data; `draw` turns a figure into a chart, `markdown` into a table.

A figure's key selects its title and caption in the language files; the figure itself holds names and values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Floats

Scale: TypeAlias = Literal["linear", "sqrt", "cosine"]


@dataclass(frozen=True)
class ChartLine:
    """Values over checkpoints, counted from 1, with an optional band from `low` to `high`."""

    name: str
    steps: Sequence[int]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    is_dashed: bool = False
    place: int | None = None
    """Index in the palette, for a name that has the same colour in several charts; default: the index of the line."""


@dataclass(frozen=True, kw_only=True)
class LineChart:
    key: str
    y: str
    lines: Sequence[ChartLine]
    x: str = ""
    """Name of the horizontal axis; checkpoints unless given."""
    is_log: bool = False
    is_share: bool = False
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Horizontal lines by name, such as the cap of λ."""
    marks: Mapping[int, str] = field(default_factory=dict)
    """Checkpoints, counted from 1, at which something happened, with a text."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """float64 [rows, columns]; NaN where nothing was recorded."""

    key: str
    x: str
    y: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Floats
    measure: str
    scale: Scale = "linear"
    is_share: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class BarChart:
    key: str
    x: str
    y: str
    bars: Mapping[str, float]
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Baselines, drawn beside the bars in grey."""
    is_share: bool = False
    colours: Mapping[str, int] = field(default_factory=dict)
    """Indices in the palette, for names that also occur in other charts."""
    note: str = ""

    @property
    def is_named(self) -> bool:
        """Whether the bars have names, rather than positions on a numeric axis `x`."""
        return not self.x


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """Points float64 [N, 2] and the group of each point."""

    key: str
    places: Floats
    groups: Sequence[str]
    group: str
    colours: Mapping[str, int] = field(default_factory=dict)
    """Indices in the palette, for groups that also occur in other charts."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class RankChart:
    """A critical-difference diagram: mean ranks, the best first, and groups that cannot be told apart."""

    key: str
    x: str
    ranks: Mapping[str, float]
    critical: float
    """Mean ranks that differ by more than this are apart."""
    groups: Sequence[Sequence[str]]
    colours: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class BoxChart:
    """Values by name, such as those of all clients of a method."""

    key: str
    x: str
    values: Mapping[str, Sequence[float]]
    is_share: bool = False
    colours: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


Figure: TypeAlias = LineChart | Heatmap | BarChart | ScatterChart | RankChart | BoxChart


def thinned(n: int, most: int) -> NDArray[np.int64]:
    """At most `most` evenly spaced indices below n, including the first and the last.

    >>> thinned(5, 10).tolist(), thinned(100, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 33, 66, 99])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)
