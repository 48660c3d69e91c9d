"""Draws line charts over checkpoints, with bands, level lines and a linear or logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from equipoise.report.figure import ChartLine, LineChart
from equipoise.report.palette import ROOM, Chart, colour, legend
from equipoise.report.ticks import label_expression, log_ticks
from equipoise.report.words import Say

SOLID, DASHED = [1, 0], [5, 4]
FEW_STEPS = 12
"""Up to this number of checkpoints, every checkpoint has a tick."""


def lines(figure: LineChart, say: Say) -> Chart:
    rows = [row for line in figure.lines for row in _rows(line, figure.is_log)]
    x, y = _x(figure, say), _y(figure, rows, "value")
    plain = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=_colour(figure))
    value = alt.Tooltip("value:Q", title=figure.y, format=".2%" if figure.is_share else ".4~g")
    curves = plain.mark_line(point=alt.OverlayMarkDef(size=28, filled=True)).encode(
        y=y,
        strokeDash=_dash(figure),
        tooltip=[alt.Tooltip("line:N", title=" "), alt.Tooltip("step:Q", title=figure.x or say("step")), value],
    )
    layers: list[Any] = [curves]
    if any(line.low for line in figure.lines):
        layers.insert(0, plain.mark_area(opacity=0.15).encode(y=_y(figure, rows, "low"), y2="high:Q"))
    return alt.layer(*layers, *_bounds(figure.bounds), *_marks(figure.marks)).add_params(ROOM)


def _rows(line: ChartLine, is_log: bool) -> list[dict[str, Any]]:
    """The rows to draw; a logarithmic axis cannot show values at or below zero."""
    bands = line.low and line.high
    lows, highs = (line.low, line.high) if bands else (line.values, line.values)
    return [
        {"line": line.name, "step": step, "value": value} | ({"low": low, "high": high} if bands else {})
        for step, value, low, high in zip(line.steps, line.values, lows, highs, strict=True)
        if not is_log or min(value, low) > 0
    ]


def _x(figure: LineChart, say: Say) -> alt.X:
    steps = sorted({step for line in figure.lines for step in line.steps})
    ticks = {"values": steps} if len(steps) <= FEW_STEPS else {"tickMinStep": 1}
    axis = alt.Axis(format="d", grid=False, labelOverlap="greedy", **ticks)
    return alt.X("step:Q", title=figure.x or say("step"), axis=axis, scale=alt.Scale(zero=False, nice=False))


def _y(figure: LineChart, rows: list[dict[str, Any]], field: str) -> alt.Y:
    seen = [row[key] for row in rows for key in ("value", "low", "high") if key in row]
    seen += [level for level in figure.bounds.values() if level > 0]
    if figure.is_log and seen:
        ticks = log_ticks(min(seen), max(seen))
        scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
        axis = alt.Axis(values=ticks, labelExpr=label_expression(ticks))
    else:
        scale, axis = alt.Scale(zero=False), alt.Axis(format="~%") if figure.is_share else alt.Axis()
    return alt.Y(f"{field}:Q", title=figure.y, scale=scale, axis=axis)


def _colour(figure: LineChart) -> alt.Color:
    """Colours by name, in the order of the lines; a line may choose its colour in the palette."""
    places = {line.name: i if line.place is None else line.place for i, line in enumerate(figure.lines)}
    scale = alt.Scale(domain=list(places), range=[colour(place) for place in places.values()])
    return alt.Color("line:N", title=None, scale=scale, legend=legend(list(places)))


def _dash(figure: LineChart) -> alt.StrokeDash:
    """Dashes by the same names as the colours, so that one legend shows both."""
    dashes = {line.name: DASHED if line.is_dashed else SOLID for line in figure.lines}
    scale = alt.Scale(domain=list(dashes), range=list(dashes.values()))
    return alt.StrokeDash("line:N", title=None, scale=scale, legend=legend(list(dashes)))


def _bounds(bounds: Mapping[str, float]) -> list[Any]:
    """Horizontal level lines with their names at the left end."""
    if not bounds:
        return []
    rows = [{"name": name, "level": level} for name, level in bounds.items()]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(y="level:Q")
    rule = plain.mark_rule(strokeDash=[2, 3], color="#888888")
    name = plain.mark_text(align="left", baseline="bottom", dx=3, dy=-2, color="#888888", fontSize=10)
    return [rule, name.encode(x=alt.value(0), text="name:N")]


def _marks(marks: Mapping[int, str]) -> list[Any]:
    """Vertical lines at events, with the event's text at the top."""
    if not marks:
        return []
    rows = [{"name": name, "step": step} for step, name in marks.items()]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(x="step:Q")
    rule = plain.mark_rule(strokeDash=[4, 2], color="#2e8b57")
    name = plain.mark_text(align="left", baseline="top", dx=4, dy=2, color="#2e8b57", fontSize=10)
    return [rule, name.encode(y=alt.value(0), text="name:N")]
