"""Draws heatmaps: coloured cells, with numbers where they fit."""

from __future__ import annotations

import altair as alt
import numpy as np

from equipoise.report.figure import Heatmap
from equipoise.report.palette import AMOUNTS, EQUAL_CONTRAST, Chart

NUMBERED = 150
"""Heatmaps with up to this many cells show numbers."""
LARGEST, SMALLEST = 10, 6.5
"""Font sizes in pixels; a cell too narrow for the smallest shows no number."""
LETTER = 0.62
"""Width of a digit as a share of its height."""
INK = f"luminance(scale('color', datum.value)) > {EQUAL_CONTRAST} ? 'black' : 'white'"
"""The numbers: dark on light cells, light on dark cells."""


def grid(figure: Heatmap) -> Chart:
    rows = [
        {"row": figure.rows[r], "column": figure.columns[c], "value": float(figure.values[r, c])}
        for r, c in zip(*np.nonzero(np.isfinite(figure.values)), strict=True)
    ]
    x = alt.X("column:O", title=figure.x, sort=None, scale=alt.Scale(domain=list(figure.columns)), axis=ACROSS)
    y = alt.Y("row:O", title=figure.y, sort=None, scale=alt.Scale(domain=list(figure.rows)), axis=DOWN)
    value = alt.Tooltip("value:Q", title=figure.measure, format=_format(figure))
    tips = [alt.Tooltip("row:O", title=figure.y), alt.Tooltip("column:O", title=figure.x), value]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, tooltip=tips)
    legend = alt.Legend(title=figure.measure, gradientLength=90, format=_format(figure))
    heat = plain.mark_rect().encode(color=alt.Color("value:Q", scale=_amounts(figure), legend=legend))
    if figure.values.size > NUMBERED:
        return alt.layer(heat)
    numbers = plain.mark_text(fontSize=alt.expr(_size(figure)), color=alt.expr(INK), baseline="middle")
    return alt.layer(heat, numbers.encode(text=alt.Text("value:Q", format=_format(figure))))


def _size(figure: Heatmap) -> str:
    """The largest font size at which the longest number fits into a cell."""
    seen = figure.values[np.isfinite(figure.values)]
    longest = max((len(_written(figure, value)) for value in seen), default=1)
    room = f"min({LARGEST}, bandwidth('x') / {LETTER * longest:.2f}, bandwidth('y'))"
    return f"{room} < {SMALLEST} ? 0 : {room}"


def _written(figure: Heatmap, value: float) -> str:
    """Approximately the text that the chart shows for a value."""
    return f"{value:.0%}" if figure.is_share else f"{value:.2f}" if figure.scale == "cosine" else f"{value:.3g}"


def _format(figure: Heatmap) -> str:
    return ".0%" if figure.is_share else ".2f" if figure.scale == "cosine" else ".3~g"


def _amounts(figure: Heatmap) -> alt.Scale:
    if figure.scale == "cosine":
        return alt.Scale(scheme="blueorange", domain=[-1, 1], reverse=True)
    if figure.is_share:
        return alt.Scale(scheme=AMOUNTS, domain=[0, 1])
    return alt.Scale(scheme=AMOUNTS, type=figure.scale)


ACROSS = alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=4)
DOWN = alt.Axis(labelOverlap="greedy", labelSeparation=4)
