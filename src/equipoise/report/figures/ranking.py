"""Ranking metrics on validation over the rounds."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.report.figure import BarChart, Figure, LineChart
from equipoise.report.figures.curves import line
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

SHOWN = ("hr@10/full", "ndcg@10/full", "hr@10/uni100", "ndcg@10/uni100")


def ranking(source: FigureSource, say: Say) -> Iterator[Figure]:
    curves = {name: source.recording.server(f"{name}/validation") for name in SHOWN}
    lines = [line(name, curve) for name, curve in curves.items() if len(curve)]
    if lines and max(len(each.steps) for each in lines) == 1:
        bars = {each.name: each.values[0] for each in lines}
        yield BarChart(key="ranking", x="", y=say("value"), bars=bars, note=say("at_step", step=lines[0].steps[0]))
    elif lines:
        yield LineChart(key="ranking", y=say("value"), lines=lines)
