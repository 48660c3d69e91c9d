"""Every loss term over the checkpoints, mean over clients; their sum, the base loss, is dashed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.report.figure import LineChart
from equipoise.report.figures.curves import line
from equipoise.report.figures.terms import SUM, term_places
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

WIDE = 30.0
"""Terms that differ by more than this factor are drawn on a logarithmic axis."""


def losses(source: FigureSource, say: Say) -> Iterator[LineChart]:
    run = source.recording
    curves = {name.removeprefix("loss/"): run.mean(name) for name in run.names("loss/*") if run.clients(name)}
    if not curves:
        return
    values = np.concatenate([curve.values for curve in curves.values()])
    is_wide = bool(values.min() > 0 and values.max() > WIDE * values.min())
    terms = sorted(curves, key=lambda term: term == SUM)  # drawn last and dashed, the sum hides no equal term
    places = term_places(terms)
    lines = [replace(line(term, curves[term], is_dashed=term == SUM), place=places[term]) for term in terms]
    note = say("logarithmic") if is_wide else ""
    yield LineChart(key="losses", y=say("loss"), lines=lines, is_log=is_wide, note=note)
