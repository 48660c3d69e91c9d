from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from equipoise.report.comparison import Comparison, ComparisonRow
from equipoise.report.figure import Figure, Heatmap, LineChart, ScatterChart
from equipoise.report.layout import placed, results
from equipoise.report.statistics import Difference, MeanStd

LOW = Heatmap(key="partition", x="", y="", columns=["0"], rows=["0"], values=np.ones((1, 1)), measure="")
HIGH = ScatterChart(key="features-class", places=np.zeros((1, 2)), groups=["class 0"], group="class")
MIDDLE = LineChart(key="accuracy", y="", lines=[])


def test_the_two_figures_of_a_row_left_a_hole_under_the_lower_one() -> None:
    first, second, third, fourth = placed([LOW, MIDDLE, MIDDLE, HIGH])
    assert first.height == second.height == 300
    assert third.height == fourth.height == 420
    assert not any(at.is_wide for at in (first, second, third, fourth))


def test_the_last_of_an_odd_number_of_figures_left_a_hole_beside_it() -> None:
    figures: list[Figure] = [LOW, MIDDLE, HIGH]
    wide, *pair = placed(figures)
    assert wide.is_wide
    assert [at.is_wide for at in pair] == [False, False]
    assert [at.figure.key for at in (wide, *pair)] == ["partition", "accuracy", "features-class"]
    assert placed([]) == []


def row(label: str, metric: str = "accuracy/merged") -> ComparisonRow:
    figure = MeanStd(0.5, math.nan, 1)
    return ComparisonRow(label, metric, [f"{label}-0"], [0], figure, figure, None, {})


def test_runs_without_a_second_seed_had_an_empty_column_of_differences() -> None:
    assert "delta" not in results(Comparison([row("a")], {})).columns
    assert "delta" not in results(Comparison([row("a"), row("b")], {})).columns
    paired = replace(row("b"), difference=Difference(0.1, 0.0, 0.2, 2))
    found = results(Comparison([row("a"), paired], {}))
    assert [cells[found.columns.index("delta")].text for cells in found.rows] == ["–", "+10.00 [+0.0, +20.0]"]


def test_the_metric_has_a_column_only_where_rows_have_different_ones() -> None:
    assert "metric" not in results(Comparison([row("a"), row("b")], {})).columns
    mixed = results(Comparison([row("a"), row("b", "hr@10/full")], {}))
    assert [cells[-1].text for cells in mixed.rows] == ["accuracy/merged", "hr@10/full"]
