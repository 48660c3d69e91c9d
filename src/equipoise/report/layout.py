"""Lays out the page: figures in pairs without gaps, and the results without empty columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report import table
from equipoise.report.comparison import Comparison
from equipoise.report.draw import height
from equipoise.report.figure import Figure
from equipoise.report.table import TableCell

EMPTY = {"", "–"}


@dataclass(frozen=True)
class PlacedFigure:
    """A figure in a row of the page; figures of a row have the same height."""

    figure: Figure
    height: int
    is_wide: bool = False


def placed(figures: Sequence[Figure]) -> list[PlacedFigure]:
    """Two figures per row; if their number is odd, the first has a row of its own."""
    n_wide = len(figures) % 2
    wide = [PlacedFigure(figure, height(figure), is_wide=True) for figure in figures[:n_wide]]
    pairs = [figures[i : i + 2] for i in range(n_wide, len(figures), 2)]
    return wide + [PlacedFigure(figure, max(map(height, pair))) for pair in pairs for figure in pair]


@dataclass(frozen=True)
class Results:
    """The table of a comparison: column names and cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[TableCell]]


def results(comparison: Comparison) -> Results:
    """The table without empty columns; it has a column for the metric if rows differ in it."""
    cells = dict(zip(table.columns(comparison), zip(*table.rows(comparison), strict=True), strict=True))
    metrics = [line.metric for line in comparison.lines]
    if len(set(metrics)) > 1:
        cells["metric"] = tuple(TableCell(metric, is_bold=False) for metric in metrics)
    kept = {name: column for name, column in cells.items() if not EMPTY.issuperset(cell.text for cell in column)}
    return Results(list(kept), list(zip(*kept.values(), strict=True)))
