"""Hit rates and drift alarms over the slices of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.report.figure import LineChart
from equipoise.report.figures.curves import line
from equipoise.report.rankings import BESIDE
from equipoise.report.source import FigureSource
from equipoise.report.stream import is_stream
from equipoise.report.words import Say

USERS = ("drifted", "steady")


def drift(source: FigureSource, say: Say) -> Iterator[LineChart]:
    run, metric = source.recording, source.run.headline
    if is_stream(source.run):
        curves = {say("all"): run.server(metric)} | {say(who): run.server(f"{metric}/{who}") for who in USERS + BESIDE}
        dashed = [say(who) for who in BESIDE]
        hit = [line(name, curve, name in dashed) for name, curve in curves.items() if len(curve)]
        if hit:
            yield LineChart(key="slices", y=metric, lines=hit)
    alarms = run.server("drift/users")
    if len(alarms):
        yield LineChart(key="drift", y=say("users"), lines=[line(say("alarms"), alarms)])
    signals = {say("surprise_next"): run.mean("surprise/next"), say("away"): run.mean("interest/away")}
    lines = [line(name, curve) for name, curve in signals.items() if len(curve)]
    if lines:
        yield LineChart(key="drift-signals", y=say("value"), lines=lines)
