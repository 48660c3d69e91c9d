"""The headline metric by group of users, beside chance and baselines that only count."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.report.figure import BarChart
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

GROUPS = ("long", "short", "head", "tail", "drifted", "steady")
REFERENCES = ("chance", "itempop", "markov")


def groups(source: FigureSource, say: Say) -> Iterator[BarChart]:
    metric = source.run.headline

    def last(suffix: str) -> float | None:
        curve = source.recording.server(f"{metric}{suffix}")
        return float(curve.values[-1]) if len(curve) else None

    found = {say("all"): last("")} | {say(group): last(f"/{group}") for group in GROUPS}
    bars = {name: value for name, value in found.items() if value is not None}
    if len(bars) > 1:
        bounds = {say(name): value for name in REFERENCES if (value := last(f"/{name}")) is not None}
        yield BarChart(key="groups", x="", y=metric, bars=bars, bounds=bounds)
