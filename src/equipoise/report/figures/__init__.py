"""The figures of one run. Each file has a function that yields the figures for which the run recorded enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from equipoise.config.kinds import kind_of
from equipoise.core.errors import ConfigError
from equipoise.core.registry import KINDS
from equipoise.diagnose.examine import HEALED
from equipoise.kind.record import load_path
from equipoise.report.figure import Figure, LineChart
from equipoise.report.source import FigureSource
from equipoise.report.words import Say

Draws = Callable[[FigureSource, Say], Iterator[Figure]]


def figure_functions(dataset: str) -> list[Draws]:
    """What draws a run on that set: the figures of its kind of data; all there are if the set is not known here."""
    try:
        paths = kind_of(dataset).figures
    except ConfigError:
        paths = tuple(dict.fromkeys(path for entry in KINDS for path in entry.make.figures))
    return [load_path(path) for path in paths]


def figures(source: FigureSource, say: Say) -> list[Figure]:
    """All figures of a run; line charts mark the checkpoints at which a guard healed it."""
    steps = [event.step for event in source.recording.events if event.kind == HEALED]
    healed = {step + 1: say("healed") for step in steps if step is not None}
    functions = figure_functions(str(source.run.config.get("data", {}).get("name")))
    drawn = [figure for draws in functions for figure in draws(source, say)]
    return [replace(figure, marks=healed) if healed and isinstance(figure, LineChart) else figure for figure in drawn]
