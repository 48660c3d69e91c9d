"""Accuracy over the checkpoints: what was merged, and what the same clients reach without merging."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from equipoise.report.figure import Lines
from equipoise.report.figures.curves import line
from equipoise.report.source import Source
from equipoise.report.words import Say

SHOWN = {
    "merged": "accuracy/merged",
    "validation": "accuracy/validation",
    "clients": "accuracy/clients",
    "best_client": "accuracy/best_client",
    "probe": "accuracy/probe",
}
RIVAL = "probability-ensemble"


def accuracy(source: Source, say: Say) -> Iterator[Lines]:
    run = source.recording
    curves = {say(key): run.server(name) for key, name in SHOWN.items()}
    curves[say("predict", name=RIVAL)] = run.server(f"accuracy/merged/{RIVAL}")
    lines = [
        replace(line(name, curve, is_dashed=name == say("validation")), place=place)
        for place, (name, curve) in enumerate(curves.items())
        if len(curve)
    ]
    if lines:
        yield Lines(key="accuracy", y=say("accuracy"), lines=lines, is_share=True)
