"""The router's mean weight for each expert of a recommender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from equipoise.report.figure import ChartLine, LineChart
from equipoise.report.figures.curves import line
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

DEVIATION = "/deviation"


def router(source: FigureSource, say: Say) -> Iterator[LineChart]:
    run = source.recording
    names = [name for name in run.names("router/*") if not name.endswith(DEVIATION)]
    if names:
        lines = [_banded(source, name) for name in names]
        yield LineChart(key="router", y=say("weight"), lines=lines)


def _banded(source: FigureSource, name: str) -> ChartLine:
    mean, apart = (line(name.removeprefix("router/"), source.recording.mean(each)) for each in (name, name + DEVIATION))
    if len(mean.values) != len(apart.values):
        return mean
    pairs = list(zip(mean.values, apart.values, strict=True))
    return replace(mean, low=[value - d for value, d in pairs], high=[value + d for value, d in pairs])
