"""Draws box charts: the quartiles, a line from the lowest to the highest value, and every value as a dash."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from equipoise.report.figure import BoxChart
from equipoise.report.palette import Chart, colour

THICKEST = 16
"""Height of a box in pixels, independent of the chart's height."""
DASH = 9
"""Length of a dash in pixels."""
NAMES = alt.Axis(labelOverlap=False, labelLimit=220, labelPadding=5, ticks=False)


def spread(figure: BoxChart) -> Chart:
    names = list(figure.values)
    y = alt.Y("name:N", title=None, sort=None, scale=alt.Scale(domain=names), axis=NAMES)
    domain = [colour(figure.colours.get(name, i)) for i, name in enumerate(names)]
    hue = alt.Color("name:N", scale=alt.Scale(domain=names, range=domain), legend=None)
    axis = alt.Axis(tickCount=5, format="~%") if figure.is_share else alt.Axis(tickCount=5)
    scale = alt.Scale(zero=False, nice=True)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=figure.x, axis=axis, scale=scale)

    form = ".1%" if figure.is_share else ".4~g"
    tips = [alt.Tooltip("name:N", title=" "), *(alt.Tooltip(f"{field}:Q", format=form) for field in FIELDS)]
    boxes = alt.Chart(alt.InlineData(values=_boxes(figure))).encode(y=y, color=hue, tooltip=tips)
    dots = [{"name": name, "value": value} for name, values in figure.values.items() for value in values]
    dashes = alt.Chart(alt.InlineData(values=dots)).mark_tick(thickness=1, opacity=0.55, size=DASH)
    height = alt.expr(f"min({THICKEST}, bandwidth('y') * 0.6)")
    return alt.layer(
        boxes.mark_rule().encode(x=x("lowest"), x2="highest:Q"),
        boxes.mark_bar(opacity=0.35, height=height).encode(x=x("quarter"), x2="three:Q"),
        dashes.encode(y=y, color=hue, x=x("value")),
        boxes.mark_tick(thickness=3, size=THICKEST + 4).encode(x=x("median")),
    )


FIELDS = ("lowest", "quarter", "median", "three", "highest")


def _boxes(figure: BoxChart) -> list[dict[str, Any]]:
    """Quartiles interpolate linearly between neighbouring values."""
    found = {name: np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist() for name, values in figure.values.items()}
    return [{"name": name} | dict(zip(FIELDS, values, strict=True)) for name, values in found.items()]
