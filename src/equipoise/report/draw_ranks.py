"""Draws critical-difference diagrams: methods by mean rank, the critical difference, and bars over those within it."""

from __future__ import annotations

from typing import Any

import altair as alt

from equipoise.report.figure import RankChart
from equipoise.report.palette import Chart, colour
from equipoise.report.words import Say

QUIET, BAR = "#888888", 5
"""Colour of what is not a method; width of a bar over a group in pixels."""


def ranks(figure: RankChart, say: Say) -> Chart:
    names, scale = list(figure.ranks), _scale(figure)
    rows = [*names, *_bars(figure, say)]
    y = alt.Y("row:N", title=None, sort=None, scale=alt.Scale(domain=rows), axis=NAMES)
    axis = alt.Axis(tickMinStep=1, format="d", values=list(range(1, len(names) + 1)))
    x = alt.X("rank:Q", title=figure.x, scale=scale, axis=axis)
    methods = [{"row": name, "rank": rank, "text": f"{rank:.2f}"} for name, rank in figure.ranks.items()]
    plain = alt.Chart(alt.InlineData(values=methods)).encode(y=y, x=x)
    tips = [alt.Tooltip("row:N", title=" "), alt.Tooltip("rank:Q", title=figure.x, format=".2f")]
    own = alt.Scale(domain=names, range=[colour(figure.colours.get(name, i)) for i, name in enumerate(names)])
    dots = plain.mark_circle(size=90, opacity=1).encode(color=alt.Color("row:N", scale=own, legend=None), tooltip=tips)
    text = plain.mark_text(dx=9, align="left", fontSize=10, color=QUIET).encode(text="text:N")
    spans = [{"row": row, "rank": low, "end": high} for row, (low, high) in _bars(figure, say).items()]
    bars = alt.Chart(alt.InlineData(values=spans)).mark_rule(strokeWidth=BAR, color=QUIET)
    return alt.layer(dots, text, bars.encode(y=y, x=x, x2="end:Q"))


def n_rows(figure: RankChart) -> int:
    return len(figure.ranks) + len(figure.groups) + 1


def _bars(figure: RankChart, say: Say) -> dict[str, tuple[float, float]]:
    """The critical difference, measured from rank 1, and one bar from the best to the worst of each group."""
    many = len(figure.groups) > 1
    bars = {
        say("alike") + (f" {i}" if many else ""): (figure.ranks[group[0]], figure.ranks[group[-1]])
        for i, group in enumerate(figure.groups, 1)
    }
    return {**bars, f"CD {figure.critical:.2f}": (1.0, 1.0 + figure.critical)}


def _scale(figure: RankChart) -> alt.Scale:
    domain: list[Any] = [0.8, max(len(figure.ranks), 1 + figure.critical) + 0.4]
    return alt.Scale(domain=domain, nice=False)


NAMES = alt.Axis(labelOverlap=False, labelLimit=220, labelPadding=5, ticks=False, grid=True)
