"""Colours and legends that work with any colour vision, on light and dark pages.

Names use the palette of Okabe and Ito and a few more colours. Amounts use viridis without its darkest end, which would
vanish on a dark page. Signed values go from orange to blue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import altair as alt

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8C8C8C", "#B8A100", "#9A6BC9", "#A0703C")
GREY = 6
"""Index of grey, the colour of baselines."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
AMOUNTS = alt.SchemeParams(name="viridis", extent=[0.1, 1.0])
EQUAL_CONTRAST = 0.179
"""The background luminance at which black and white text are equally legible."""
LETTER, SYMBOL = 6, 35
"""Width in a legend, in pixels: of a letter, and of a symbol with its gaps."""
ROOM = alt.param(name="room", value=460)
"""Available width of a legend in pixels; the page sets it."""


def colour(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def legend(names: Sequence[str], symbol: str = "stroke") -> alt.Legend:
    """A legend below the chart, in as many columns as fit."""
    widest = SYMBOL + LETTER * max(map(len, names), default=1)
    columns = alt.ExprRef(f"max(1, floor(room / {widest}))")
    return alt.Legend(
        orient="bottom", columns=columns, labelLimit=300, symbolLimit=40, symbolOpacity=1, symbolType=symbol,
        symbolStrokeWidth=2.5,
    )  # fmt: skip
