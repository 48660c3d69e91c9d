"""What a report shows, as data: `draw` makes a chart of a figure and `markdown` a table, and it knows of neither.

A figure's title and caption are the words under its key; only names of lines, rows and columns stand in it.
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
    """Values over checkpoints, which are counted from 1; between `low` and `high` lies a band, where there is one."""

    name: str
    steps: Sequence[int]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    is_dashed: bool = False
    place: int | None = None
    """In the palette, for a name that keeps its colour in several charts; otherwise the place among the lines."""


@dataclass(frozen=True, kw_only=True)
class LineChart:
    key: str
    y: str
    lines: Sequence[ChartLine]
    is_log: bool = False
    is_share: bool = False
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Level lines by name, such as the cap of λ."""
    marks: Mapping[int, str] = field(default_factory=dict)
    """Checkpoints, counted from 1, at which something happened, and what."""
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
    """What bars are held against, drawn beside them in grey."""
    is_share: bool = False
    colours: Mapping[str, int] = field(default_factory=dict)
    """Places in the palette, for names that have one in other charts too."""
    note: str = ""

    @property
    def is_named(self) -> bool:
        """Whether bars have names of their own, rather than a place on the axis `x`."""
        return not self.x


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """float64 [N, 2], and what each point belongs to."""

    key: str
    places: Floats
    groups: Sequence[str]
    group: str
    colours: Mapping[str, int] = field(default_factory=dict)
    """Places in the palette, for groups that have one in other charts too."""
    note: str = ""


Figure: TypeAlias = LineChart | Heatmap | BarChart | ScatterChart


def thinned(n: int, most: int) -> NDArray[np.int64]:
    """Evenly spaced places among n, at most so many, with the first and the last.

    >>> thinned(5, 10).tolist(), thinned(100, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 33, 66, 99])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)
