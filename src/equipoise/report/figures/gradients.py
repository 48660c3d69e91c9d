"""Gradient norms of the loss terms, and the cosine between the base and the alignment gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from equipoise.diagnose.recording import Curve, Recording
from equipoise.report.figure import BarChart, ChartLine, Figure, LineChart
from equipoise.report.figures.curves import line, middle
from equipoise.report.figures.terms import SUM, term_places
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

NORM = "grad/norm/"
ROUNDING = 1e-9
"""Below this share of the largest norm, a gradient counts as zero."""


def gradients(source: FigureSource, say: Say) -> Iterator[Figure]:
    run = source.recording
    norms = _pulling(_norms(run))
    if not any(curve.values.any() for curve in norms.values()):
        return
    places = term_places(norms)
    if max(len(curve) for curve in norms.values()) == 1:
        bars = {name: float(curve.values[0]) for name, curve in norms.items()}
        note = say("at_step", step=int(next(iter(norms.values())).steps[0]) + 1)
        yield BarChart(key="gradients", x="", y=say("norm"), bars=bars, colours=places, note=note)
        return
    lines = [replace(_named(term, curve, say), place=places[term]) for term, curve in norms.items()]
    yield LineChart(key="gradients", y=say("norm"), lines=lines, is_log=True)
    if cosines := run.clients("grad/cosine"):
        yield LineChart(key="conflict", y=say("cosine"), lines=[middle(say("median"), cosines)], bounds={"0": 0.0})


def _norms(run: Recording) -> dict[str, Curve]:
    """The norm of every term, mean over clients; a single term has the gradient of the whole loss."""
    terms = [name.removeprefix("loss/") for name in run.names("loss/*") if run.clients(name)]
    single = [term for term in terms if term != SUM]
    found = {name.removeprefix(NORM): run.mean(name) for name in run.names(f"{NORM}*")}
    whole = run.mean("grad/norm")
    return {single[0]: whole} if not found and len(single) == 1 and len(whole) else found


def _pulling(norms: Mapping[str, Curve]) -> dict[str, Curve]:
    """The curve with rounding errors set to 0."""
    most = max((curve.values.max() for curve in norms.values()), default=0.0)
    return {
        term: Curve(None, curve.steps, np.where(curve.values > ROUNDING * most, curve.values, 0.0))
        for term, curve in norms.items()
    }


def _named(term: str, curve: Curve, say: Say) -> ChartLine:
    """The line of a term; a logarithmic axis cannot show a term that is always 0, so its name says so."""
    return line(term if curve.values.any() else say("never_pulls", term=term), curve)
