"""A figure as a chart: one definition for the page, SVG, PNG and PDF.

Colours are told apart with any colour vision: Okabe and Ito's set for names, viridis for amounts, blue to orange for
signs. Backgrounds are transparent and text has no colour of its own, so that a page decides between light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import altair as alt
import numpy as np

from equipoise.report.figure import Bars, Figure, Grid, Line, Lines, Points
from equipoise.report.words import Say

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8C8C8C", "#B8A100", "#6A3D9A", "#8B5A2B")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
WIDTH, HEIGHT = 520, 300
NUMBERED = 150
"""Grids of up to so many cells show their numbers."""


def draw(figure: Figure, say: Say) -> Chart:
    drawn = _kind(figure, say)
    sized: Chart = drawn.properties(width=WIDTH, height=_height(figure)).configure_view(strokeWidth=0)
    return sized


def _kind(figure: Figure, say: Say) -> Chart:
    match figure:
        case Lines():
            return _lines(figure, say)
        case Grid():
            return _grid(figure)
        case Bars():
            return _bars(figure)
        case Points():
            return _points(figure)


def _height(figure: Figure) -> int:
    if isinstance(figure, Grid):
        return int(np.clip(22 * len(figure.rows), 110, 420)) + 50
    return 420 if isinstance(figure, Points) else HEIGHT


def _lines(figure: Lines, say: Say) -> Chart:
    names = list(dict.fromkeys(line.name for line in figure.lines))
    x = alt.X("step:Q", title=say("step"), axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    scale = alt.Scale(type="log") if figure.is_log else alt.Scale(zero=False)
    axis = alt.Axis(format="~%") if figure.is_share else alt.Axis(format="~g") if figure.is_log else alt.Axis()
    y = alt.Y("value:Q", title=figure.y, scale=scale, axis=axis)
    colour = alt.Color("line:N", title=None, scale=alt.Scale(domain=names, range=_colours(len(names))), legend=BELOW)
    rows = [row for line in figure.lines for row in _rows(line, figure.is_log)]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=colour)
    solid = plain.mark_line(point=alt.OverlayMarkDef(size=16)).encode(
        y=y,
        strokeDash=alt.StrokeDash("dashed:N", scale=alt.Scale(domain=[0, 1], range=[[1, 0], [5, 4]]), legend=None),
        tooltip=[alt.Tooltip("line:N", title=" "), alt.Tooltip("step:Q", title=say("step")), _told(figure)],
    )
    layers: list[Any] = [solid]
    if any(line.low for line in figure.lines):
        band = plain.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=figure.y, scale=scale), y2="high:Q")
        layers.insert(0, band)
    return alt.layer(*layers, *_bounds(figure.bounds))


def _rows(line: Line, is_log: bool) -> list[dict[str, Any]]:
    """A logarithmic axis has no place for what is not above zero."""
    bands = line.low and line.high
    lows, highs = (line.low, line.high) if bands else (line.values, line.values)
    return [
        {"line": line.name, "step": step, "value": value, "dashed": int(line.is_dashed)}
        | ({"low": low, "high": high} if bands else {})
        for step, value, low, high in zip(line.steps, line.values, lows, highs, strict=True)
        if not is_log or min(value, low) > 0
    ]


def _bounds(bounds: Mapping[str, float]) -> list[Any]:
    """Level lines with their names at the left end."""
    if not bounds:
        return []
    rows = [{"name": name, "level": level} for name, level in bounds.items()]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(y="level:Q")
    rule = plain.mark_rule(strokeDash=[2, 3], color="#888888")
    name = plain.mark_text(align="left", baseline="bottom", dx=3, dy=-2, color="#888888", fontSize=10)
    return [rule, name.encode(x=alt.value(0), text="name:N")]


def _grid(figure: Grid) -> Chart:
    rows = [
        {"row": figure.rows[r], "column": figure.columns[c], "value": float(figure.values[r, c])}
        for r, c in zip(*np.nonzero(np.isfinite(figure.values)), strict=True)
        if figure.scale != "log" or figure.values[r, c] > 0
    ]
    x = alt.X("column:O", title=figure.x, sort=None, scale=alt.Scale(domain=list(figure.columns)), axis=ACROSS)
    y = alt.Y("row:O", title=figure.y, sort=None, scale=alt.Scale(domain=list(figure.rows)), axis=DOWN)
    told = alt.Tooltip("value:Q", title=figure.measure, format=_format(figure))
    tips = [alt.Tooltip("row:O", title=figure.y), alt.Tooltip("column:O", title=figure.x), told]
    plain = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, tooltip=tips)
    legend = alt.Legend(title=figure.measure, gradientLength=90, format=_format(figure))
    heat = plain.mark_rect().encode(color=alt.Color("value:Q", scale=_amounts(figure), legend=legend))
    if figure.values.size > NUMBERED:
        return alt.layer(heat)
    numbers = plain.mark_text(fontSize=9).encode(text=alt.Text("value:Q", format=_format(figure)), color=_ink(figure))
    return alt.layer(heat, numbers)


def _format(figure: Grid) -> str:
    return ".0%" if figure.is_share else ".2f" if figure.scale == "cosine" else ".3~g"


def _amounts(figure: Grid) -> alt.Scale:
    if figure.scale == "cosine":
        return alt.Scale(scheme="blueorange", domain=[-1, 1], reverse=True)
    if figure.is_share:
        return alt.Scale(scheme="viridis", domain=[0, 1])
    return alt.Scale(scheme="viridis", type=figure.scale)


def _ink(figure: Grid) -> Any:
    """Dark numbers on light cells, light ones on dark cells."""
    if figure.scale == "cosine":
        return alt.value("black")
    seen = figure.values[np.isfinite(figure.values)]
    low, high = (0.0, 1.0) if figure.is_share else (float(seen.min()), float(seen.max()))
    middle = {"log": np.sqrt(max(low, 1e-300) * max(high, 1e-300)), "sqrt": ((low**0.5 + high**0.5) / 2) ** 2}.get(
        figure.scale, (low + high) / 2
    )
    return alt.when(alt.datum.value > float(middle)).then(alt.value("black")).otherwise(alt.value("white"))


def _bars(figure: Bars) -> Chart:
    rows = [
        {"bar": name, "value": value, "beside": int(name in figure.bounds)}
        for name, value in {**figure.bars, **figure.bounds}.items()
    ]
    names = [*figure.bars, *figure.bounds]
    x = alt.X(
        "bar:N",
        title=figure.x or None,
        sort=None,
        axis=alt.Axis(labelAngle=0 if sum(map(len, names)) < 45 else -35, labelOverlap=True),
    )
    y = alt.Y("value:Q", title=figure.y)
    tips = [alt.Tooltip("bar:N", title=" "), alt.Tooltip("value:Q", format=".4~g")]
    grey = alt.Color("beside:N", scale=alt.Scale(domain=[0, 1], range=[PALETTE[0], PALETTE[6]]), legend=None)
    found: Chart = alt.Chart(alt.InlineData(values=rows)).mark_bar().encode(x=x, y=y, color=grey, tooltip=tips)
    return found


def _points(figure: Points) -> Chart:
    names = sorted(dict.fromkeys(figure.groups), key=lambda name: (len(name), name))
    rows = [
        {"x": round(x, 3), "y": round(y, 3), "group": group}
        for (x, y), group in zip(figure.places.tolist(), figure.groups, strict=True)
    ]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(names))]
    colour = alt.Color("group:N", title=None, scale=alt.Scale(domain=names, range=_colours(len(names))), legend=BELOW)
    shape = alt.Shape("group:N", title=None, scale=alt.Scale(domain=names, range=shapes), legend=BELOW)
    bare = alt.Axis(labels=False, ticks=False, domain=False, grid=False)
    x, y = (alt.X("x:Q", title=None, axis=bare), alt.Y("y:Q", title=None, axis=bare))
    dots = alt.Chart(alt.InlineData(values=rows)).mark_point(size=22, opacity=0.7)
    found: Chart = dots.encode(
        x=x, y=y, color=colour, shape=shape, tooltip=[alt.Tooltip("group:N", title=figure.group)]
    )
    return found


def _told(figure: Lines) -> alt.Tooltip:
    return alt.Tooltip("value:Q", title=figure.y, format=".2%" if figure.is_share else ".4~g")


def _colours(n: int) -> list[str]:
    return [PALETTE[i % len(PALETTE)] for i in range(n)]


BELOW = alt.Legend(orient="bottom", columns=3, labelLimit=200, symbolLimit=40, symbolOpacity=1)
ACROSS = alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=4)
DOWN = alt.Axis(labelOverlap="greedy", labelSeparation=4)
