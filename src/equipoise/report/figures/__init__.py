"""The figures of one run. Each file has a function that yields the figures for which the run recorded enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from equipoise.diagnose.examine import HEALED
from equipoise.report.figure import Figure, LineChart
from equipoise.report.figures.accuracy import accuracy
from equipoise.report.figures.clients import clients
from equipoise.report.figures.drift import drift
from equipoise.report.figures.features import features
from equipoise.report.figures.geometry import geometry
from equipoise.report.figures.gradients import gradients
from equipoise.report.figures.groups import groups
from equipoise.report.figures.lam import lam
from equipoise.report.figures.losses import losses
from equipoise.report.figures.memory import memory
from equipoise.report.figures.partition import partition
from equipoise.report.figures.ranking import ranking
from equipoise.report.figures.recall import recall
from equipoise.report.figures.router import router
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

Draws = Callable[[FigureSource, Say], Iterator[Figure]]
FIGURES: tuple[Draws, ...] = (
    partition, accuracy, ranking, losses, lam, gradients, clients, recall, geometry, features,
    groups, router, memory, drift,
)  # fmt: skip


def figures(source: FigureSource, say: Say) -> list[Figure]:
    """All figures of a run; line charts mark the checkpoints at which a guard healed it."""
    steps = [event.step for event in source.recording.events if event.kind == HEALED]
    healed = {step + 1: say("healed") for step in steps if step is not None}
    drawn = [figure for draws in FIGURES for figure in draws(source, say)]
    return [replace(figure, marks=healed) if healed and isinstance(figure, LineChart) else figure for figure in drawn]
