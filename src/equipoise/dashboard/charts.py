"""The report's figures of a run, as specifications that the page draws: the same definitions as in the report."""

from __future__ import annotations

from typing import Any

import altair as alt
from pydantic import BaseModel

from equipoise.dashboard.excerpt import CLIENTS, excerpt
from equipoise.report.draw import draw, height
from equipoise.report.figure import Figure
from equipoise.report.figures import figures
from equipoise.report.source import FigureSource
from equipoise.report.words import Say, words
from equipoise.store import read
from equipoise.store.records import Run
from equipoise.store.transact import Store

MAPPED = ("client-accuracy", "client-loss")
"""Figures of which the page has maps."""
TEXT = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
CONFIG = {"background": None, "font": "sans-serif", "axis": {"gridOpacity": 0.35, **TEXT}, "legend": TEXT}


class Chart(BaseModel):
    """One figure: texts in the reader's language, and a Vega-Lite specification without a width."""

    key: str
    title: str
    caption: str
    height: int
    spec: dict[str, Any]


class Charts(BaseModel):
    run_id: str
    clients: int
    """Figures of single clients show at most this many."""
    charts: list[Chart]


def charts(store: Store, run: Run, language: str) -> Charts:
    partition = read.partition(store, run.partition) if run.partition else None
    say = words(language)
    found = figures(FigureSource(run, excerpt(store, run).finite(), partition, {}), say)
    shown = [chart(figure, say) for figure in found if figure.key not in MAPPED]
    return Charts(run_id=run.run_id, clients=CLIENTS, charts=shown)


def chart(figure: Figure, say: Say) -> Chart:
    with alt.theme.enable("none"), _unchecked():
        spec: dict[str, Any] = draw(figure, say).to_dict(validate=False)
    spec.pop("width", None)
    own = {"autosize": {"type": "fit", "contains": "padding"}, "config": {**spec.get("config", {}), **CONFIG}}
    caption = f"{say(f'caption.{figure.key}')} {figure.note}".strip()
    return Chart(
        key=figure.key, title=say(f"figure.{figure.key}"), caption=caption, height=height(figure), spec={**spec, **own}
    )


def _unchecked() -> Any:
    """Figures are checked by their tests; Altair's own check of each takes ten times as long as drawing it."""
    return alt.utils.schemapi.debug_mode(False)
