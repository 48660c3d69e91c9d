"""Changes of interest over the slices of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.report.figure import Lines
from equipoise.report.figures.curves import line
from equipoise.report.source import Source
from equipoise.report.words import Say


def drift(source: Source, say: Say) -> Iterator[Lines]:
    run = source.recording
    alarms = run.server("drift/users")
    if len(alarms):
        yield Lines(key="drift", y=say("users"), lines=[line(say("alarms"), alarms)])
    signals = {say("surprise_next"): run.mean("surprise/next"), say("away"): run.mean("interest/away")}
    lines = [line(name, curve) for name, curve in signals.items() if len(curve)]
    if lines:
        yield Lines(key="drift-signals", y=say("value"), lines=lines)
