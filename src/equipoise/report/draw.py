"""Draws a figure as an Altair chart: one definition serves the page, SVG, PNG and PDF.

Backgrounds are transparent and text has no colour, so that the page chooses light or dark.
"""

from __future__ import annotations

import altair as alt
import numpy as np

from equipoise.report.draw_bars import across, upright
from equipoise.report.draw_grid import grid
from equipoise.report.draw_lines import lines
from equipoise.report.draw_ranks import n_rows, ranks
from equipoise.report.draw_spread import spread
from equipoise.report.figure import BarChart, BoxChart, Figure, Heatmap, LineChart, RankChart, ScatterChart
from equipoise.report.palette import ROOM, SHAPES, Chart, colour, legend
from equipoise.report.words import Say

WIDTH, HEIGHT = 520, 300


def draw(figure: Figure, say: Say) -> Chart:
    drawn = _kind(figure, say)
    sized: Chart = drawn.properties(width=WIDTH, height=height(figure)).configure_view(strokeWidth=0)
    return sized


def height(figure: Figure) -> int:
    """The natural height of the figure in pixels; the page may enlarge it to match its neighbour."""
    if isinstance(figure, Heatmap):
        return int(np.clip(22 * len(figure.rows), 110, 330)) + 50
    if isinstance(figure, BarChart) and figure.is_named:
        return 24 * (len(figure.bars) + len(figure.bounds)) + 60
    if isinstance(figure, RankChart):
        return 26 * n_rows(figure) + 60
    if isinstance(figure, BoxChart):
        return 34 * len(figure.values) + 60
    return 420 if isinstance(figure, ScatterChart) else HEIGHT


def _kind(figure: Figure, say: Say) -> Chart:
    match figure:
        case LineChart():
            return lines(figure, say)
        case Heatmap():
            return grid(figure)
        case BarChart():
            return across(figure) if figure.is_named else upright(figure)
        case ScatterChart():
            return _points(figure)
        case RankChart():
            return ranks(figure, say)
        case BoxChart():
            return spread(figure)


def _points(figure: ScatterChart) -> Chart:
    names = sorted(dict.fromkeys(figure.groups), key=lambda name: (len(name), name))
    rows = [
        {"x": round(x, 3), "y": round(y, 3), "group": group}
        for (x, y), group in zip(figure.places.tolist(), figure.groups, strict=True)
    ]
    places = [figure.colours.get(name, i) for i, name in enumerate(names)]
    colours, shapes = [colour(place) for place in places], [SHAPES[place % len(SHAPES)] for place in places]
    below = legend(names, symbol="circle")
    bare = alt.Axis(labels=False, ticks=False, domain=False, grid=False)
    dots = alt.Chart(alt.InlineData(values=rows)).mark_point(size=22, opacity=0.7)
    found: Chart = dots.add_params(ROOM).encode(
        x=alt.X("x:Q", title=None, axis=bare),
        y=alt.Y("y:Q", title=None, axis=bare),
        color=alt.Color("group:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=below),
        shape=alt.Shape("group:N", title=None, scale=alt.Scale(domain=names, range=shapes), legend=below),
        tooltip=[alt.Tooltip("group:N", title=figure.group)],
    )
    return found
