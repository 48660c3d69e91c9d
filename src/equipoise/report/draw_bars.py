"""Draws bar charts: horizontal bars for names, upright bars along a numeric axis."""

from __future__ import annotations

from typing import Any, Literal

import altair as alt

from equipoise.report.figure import BarChart
from equipoise.report.palette import GREY, Chart, colour

FEW_BARS = 20
"""Up to this number of bars, every bar has a label."""
LETTERS = 45
"""Labels with up to this many letters in total fit side by side."""
NAMES = alt.Axis(labelOverlap=False, labelLimit=300, labelPadding=5, ticks=False)
THICKEST = 26
"""Width of a bar in pixels, independent of the chart's height."""
LONGER = 1.15
"""Length of the axis over the longest bar, which leaves room for the number behind it."""


def across(figure: BarChart) -> Chart:
    """Bars below each other, each with its name on the left and its value on the right."""
    plain = alt.Chart(alt.InlineData(values=_rows(figure)))
    name = alt.Y("bar:N", title=None, sort=None, axis=NAMES)
    most = max([*figure.bars.values(), *figure.bounds.values()])
    scale = alt.Scale(domain=[0, LONGER * most or 1])
    value = alt.X("value:Q", title=figure.y, scale=scale, axis=alt.Axis(tickCount=5))
    shown = "format(datum.value, '.0%')" if figure.is_share else "format(datum.value, '.3~g')"
    bars = plain.mark_bar(height=alt.expr(f"min({THICKEST}, bandwidth('y') * 0.9)")).encode(
        y=name, x=value, color=_colour(figure), tooltip=_tips()
    )
    text = plain.transform_calculate(shown=shown).mark_text(align="left", dx=4, fontSize=10, color="#888888")
    return alt.layer(bars, text.encode(y=name, x=value, text="shown:N"))


def upright(figure: BarChart) -> Chart:
    n_bars = len(figure.bars) + len(figure.bounds)
    longest = max(map(len, [*figure.bars, *figure.bounds]), default=0)
    overlap: Literal["greedy", False] = False if n_bars <= FEW_BARS else "greedy"
    axis = alt.Axis(labelAngle=0 if longest * n_bars < LETTERS else -45, labelOverlap=overlap)
    x = alt.X("bar:N", title=figure.x or None, sort=None, axis=axis)
    y = alt.Y("value:Q", title=figure.y, axis=alt.Axis(format="~%") if figure.is_share else alt.Axis())
    plain = alt.Chart(alt.InlineData(values=_rows(figure))).mark_bar()
    drawn: Chart = plain.encode(x=x, y=y, color=_colour(figure), tooltip=_tips())
    return drawn


def _rows(figure: BarChart) -> list[dict[str, Any]]:
    return [{"bar": name, "value": value} for name, value in {**figure.bars, **figure.bounds}.items()]


def _colour(figure: BarChart) -> alt.Color:
    """Colours of the bars; baselines are grey."""
    places = {name: figure.colours.get(name, 0) for name in figure.bars} | dict.fromkeys(figure.bounds, GREY)
    scale = alt.Scale(domain=list(places), range=[colour(place) for place in places.values()])
    return alt.Color("bar:N", scale=scale, legend=None)


def _tips() -> list[alt.Tooltip]:
    return [alt.Tooltip("bar:N", title=" "), alt.Tooltip("value:Q", format=".4~g")]
