"""How often a recommender's memory holds the target, and the distribution of surprise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.report.figure import BarChart, Figure, LineChart
from equipoise.report.figures.curves import line
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

SHOWN = ("write_rate", "p_positive", "p_negative")
N_BARS = 20
LATE = 0.8
"""Surprise counts from this share of the run on."""


def memory(source: FigureSource, say: Say) -> Iterator[Figure]:
    run = source.recording
    curves = {say(name): run.mean(f"memory/{name}") for name in SHOWN}
    lines = [line(name, curve) for name, curve in curves.items() if len(curve)]
    if lines:
        yield LineChart(key="memory", y=say("share"), lines=lines)
    begin = int(LATE * (run.last + 1))
    late = [curve.since(begin) for curve in run.clients("surprise")]
    means = [curve.values.mean() for curve in late if len(curve)]
    if means:
        counts, edges = np.histogram(means, bins=N_BARS)
        bars = {f"{low:.3g}": float(n) for low, n in zip(edges, counts, strict=False)}
        yield BarChart(key="surprise", x=say("surprise_axis"), y=say("users"), bars=bars)
