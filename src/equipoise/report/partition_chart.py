"""Draws a partition: clients as rows, classes as columns, with the totals of both.

    cell colour = √n_kc, so that small counts are visible beside large ones; a cell with n_kc = 0 is empty

Up to 60 clients have named rows in order. More clients are sorted by their largest class, without names, and at most
300 evenly spaced ones are drawn; the caption says so. One definition serves HTML, SVG, PNG and PDF.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Panel = alt.LayerChart | alt.FacetChart

NAMED_ROWS = 60
DRAWN_ROWS = 300
NUMBERED_CELLS = 400
SCHEME = alt.SchemeParams(name="yellowgreenblue", extent=[0.12, 1.0])
"""ColorBrewer's YlGnBu, readable with any colour vision; without its palest end, so that one image shows on white."""
BAR = "#9aa0a8"


def chart(counts: Counts, title: str, classes: Sequence[str], caption: str = "") -> alt.VConcatChart:
    """The chart of int64 [K, C] counts; `caption` is the line under the title."""
    shown = drawn_rows(counts)
    if len(shown) < len(counts):
        caption = f"{caption} · {len(shown)} of {len(counts)} clients drawn".removeprefix(" · ")
    plot = _Plot(counts, shown, tuple(classes))
    heading = alt.TitleParams(title, subtitle=caption, anchor="start", subtitleColor="#555", offset=12)
    grid = alt.hconcat(plot.cells(), plot.client_totals(), spacing=6)
    picture: alt.VConcatChart = (
        alt.vconcat(plot.class_totals(), grid, spacing=6, title=heading)
        .resolve_scale(color="independent")
        .configure_view(strokeWidth=0)
        .configure_axis(grid=False, domain=False, ticks=False, titleFontWeight="normal")
        .configure_title(fontSize=15, subtitleFontSize=11)
    )
    return picture


def caption(name: str, fingerprint: str, overlap: float, alpha: float | None = None) -> str:
    """The caption of a partition: splitter, α, fingerprint, and whether clients share samples.

    >>> caption("dirichlet", "0123456789abcdef", 0.0, alpha=0.1)
    'dirichlet · α = 0.1 · fingerprint 0123456789ab · no overlap'
    """
    shared = f"OVERLAP: {overlap:.1%} of samples on several clients" if overlap else "no overlap"
    parts = [name, f"α = {alpha:g}" if alpha is not None else "", f"fingerprint {fingerprint[:12]}", shared]
    return " · ".join(part for part in parts if part)


def drawn_rows(counts: Counts) -> Counts:
    """The clients to draw, from top to bottom: all in order, or sorted by largest class and evenly thinned."""
    if len(counts) <= NAMED_ROWS:
        return np.arange(len(counts))
    order = np.lexsort((-counts.max(axis=1), counts.argmax(axis=1)))
    every = np.linspace(0, len(order) - 1, min(len(order), DRAWN_ROWS)).round().astype(np.int64)
    return np.asarray(order[every])


class _Plot:
    """The three panels with common axes: class totals above, cells, client totals on the right."""

    def __init__(self, counts: Counts, shown: Counts, classes: tuple[str, ...]) -> None:
        K, C = counts.shape
        self.counts, self.shown = counts, shown
        self.classes = [name if classes.count(name) == 1 else f"{name} ({c})" for c, name in enumerate(classes)]
        self.is_named = K <= NAMED_ROWS
        self.is_numbered = self.is_named and K * C <= NUMBERED_CELLS
        self.width = C * (44 if self.is_numbered else (30 if C <= 20 else max(8, 800 // C)))
        self.height = len(shown) * ((22 if K <= 24 else 14) if self.is_named else max(2, 480 // len(shown)))

    def cells(self) -> Panel:
        rows = [
            {"client": row, "class": self.classes[c], "images": int(self.counts[client, c]), "id": int(client)}
            for row, client in enumerate(self.shown)
            for c in np.flatnonzero(self.counts[client])
        ]
        plain = alt.Chart(alt.InlineData(values=rows), width=self.width, height=self.height).encode(
            x=self._x(axis=alt.Axis(title="class", labelAngle=self._angle, labelOverlap=self._overlap, labelLimit=90)),
            y=self._y(axis=self._client_axis),
        )
        heat = plain.mark_rect(stroke="white", strokeWidth=0.5 if self.is_named else 0).encode(
            color=self._colour, tooltip=["id:Q", "class:N", "images:Q"]
        )
        if not self.is_numbered:
            return alt.layer(heat)
        half = float(np.sqrt(self.counts.max()) / 2) ** 2
        ink = alt.when(alt.datum.images > half).then(alt.value("white")).otherwise(alt.value("black"))
        return alt.layer(heat, plain.mark_text(fontSize=10).encode(text=alt.Text("images:Q", format="d"), color=ink))

    def client_totals(self) -> Panel:
        sizes = self.counts.sum(axis=1)
        rows = [{"client": row, "images": int(sizes[client])} for row, client in enumerate(self.shown)]
        plain = alt.Chart(alt.InlineData(values=rows), width=110, height=self.height).encode(
            x=alt.X("images:Q", axis=alt.Axis(title="images per client", tickCount=2, format=",d")),
            y=self._y(axis=None),
        )
        bars = plain.mark_bar(color=BAR, stroke="white", strokeWidth=1 if self.is_named else 0)
        if not self.is_named:
            return alt.layer(bars)
        return alt.layer(bars, plain.mark_text(align="left", dx=3, fontSize=9).encode(text="images:Q"))

    def class_totals(self) -> Panel:
        totals = self.counts.sum(axis=0)
        rows = [{"class": name, "images": int(total)} for name, total in zip(self.classes, totals, strict=True)]
        plain = alt.Chart(alt.InlineData(values=rows), width=self.width, height=50).encode(
            x=self._x(axis=None), y=alt.Y("images:Q", axis=alt.Axis(title="per class", tickCount=2, format=",d"))
        )
        bars = plain.mark_bar(color=BAR, stroke="white", strokeWidth=1)
        if not self.is_numbered:
            return alt.layer(bars)
        return alt.layer(bars, plain.mark_text(baseline="bottom", dy=-2, fontSize=9).encode(text="images:Q"))

    @property
    def _overlap(self) -> Any:
        return False if len(self.classes) <= 20 else "greedy"

    @property
    def _angle(self) -> int:
        return 0 if self.is_numbered and max(map(len, self.classes)) <= 6 else -45

    @property
    def _client_axis(self) -> alt.Axis:
        if self.is_named:
            return alt.Axis(title="client", labelOverlap=False)
        return alt.Axis(title=f"{len(self.counts)} clients, sorted by largest class", labels=False)

    @property
    def _colour(self) -> alt.Color:
        most = int(self.counts.max())
        marks = sorted({max(1, round(most * share**2)) for share in (0, 0.25, 0.5, 0.75, 1)})
        legend = alt.Legend(title="images", gradientLength=120, orient="right", values=marks, format=",d")
        return alt.Color("images:Q", scale=alt.Scale(type="sqrt", scheme=SCHEME, domain=[0, most]), legend=legend)

    def _x(self, axis: alt.Axis | None) -> alt.X:
        return alt.X("class:O", sort=None, scale=alt.Scale(domain=self.classes, padding=0), axis=axis)

    def _y(self, axis: alt.Axis | None) -> alt.Y:
        domain = list(range(len(self.shown)))
        return alt.Y("client:O", scale=alt.Scale(domain=domain, padding=0), axis=axis)
