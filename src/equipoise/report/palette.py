"""Colours and legends of names and amounts, told apart with any colour vision, on a light page and on a dark one.

Names have Okabe and Ito's set and a few more; amounts have viridis without its darkest end, which a dark page would
swallow; signs go from orange to blue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import altair as alt

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8C8C8C", "#B8A100", "#9A6BC9", "#A0703C")
GREY = 6
"""The place of grey: what is only held against the rest."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
AMOUNTS = alt.SchemeParams(name="viridis", extent=[0.1, 1.0])
EQUAL_CONTRAST = 0.179
"""The luminance of a ground on which black and white text are equally legible."""
LETTER, SYMBOL = 6, 35
"""Pixels in a legend: of a letter, and of a symbol with the gaps around it."""
ROOM = alt.param(name="room", value=460)
"""Pixels that a legend may be wide; the page sets it to what there is."""


def colour(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def legend(names: Sequence[str], symbol: str = "stroke") -> alt.Legend:
    """Below the chart, in as many columns as it has room for."""
    widest = SYMBOL + LETTER * max(map(len, names), default=1)
    columns = alt.ExprRef(f"max(1, floor(room / {widest}))")
    return alt.Legend(
        orient="bottom", columns=columns, labelLimit=300, symbolLimit=40, symbolOpacity=1, symbolType=symbol,
        symbolStrokeWidth=2.5,
    )  # fmt: skip
