"""Accuracy over the checkpoints: the merged model, and the same clients without merging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from equipoise.core.values import Event
from equipoise.diagnose.examine import HEALED
from equipoise.report.figure import LineChart
from equipoise.report.figures.curves import line
from equipoise.report.runs import predict_of
from equipoise.report.source import FigureSource
from equipoise.report.words import Say
from equipoise.store.records import Run

SHOWN = {
    "merged": "accuracy/merged",
    "validation": "accuracy/validation",
    "clients": "accuracy/clients",
    "best_client": "accuracy/best_client",
    "probe": "accuracy/probe",
}
RIVAL = "probability-ensemble"


def replaced(events: Sequence[Event], run: Run) -> list[str]:
    """The predictor that a guard replaced; from then on the merged accuracy is that of the new one."""
    is_swapped = any(event.kind == HEALED and "server.predict" in event.detail["changes"] for event in events)
    first = predict_of(run) if is_swapped else None
    return [] if first is None else [first]


def accuracy(source: FigureSource, say: Say) -> Iterator[LineChart]:
    run = source.recording
    curves = {say(key): run.server(name) for key, name in SHOWN.items()}
    for name in (RIVAL, *replaced(run.events, source.run)):
        curves[say("predict", name=name)] = run.server(f"accuracy/merged/{name}")
    lines = [
        replace(line(name, curve, is_dashed=name == say("validation")), place=place)
        for place, (name, curve) in enumerate(curves.items())
        if len(curve)
    ]
    if lines:
        yield LineChart(key="accuracy", y=say("accuracy"), lines=lines, is_share=True)
