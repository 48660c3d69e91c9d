"""The figures at the top: curves of all configurations, or the most informative figure of a single run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from equipoise.diagnose.recording import Curve
from equipoise.report.figure import ChartLine, Figure, LineChart
from equipoise.report.words import Say

CURVES, GROUPS = ("accuracy", "slices", "ranking"), "groups"
"""Figures that summarise a single run, in order of preference: a curve, or the groups of users."""


@dataclass(frozen=True)
class RunCurves:
    """One run's headline metric and λ over the checkpoints."""

    metric: str
    headline: Curve
    lam: Curve


def overview(by_label: Mapping[str, Sequence[RunCurves]], say: Say) -> list[Figure]:
    """Headline metric and λ of all configurations, with the same colours in both."""
    metrics = {course.metric for group in by_label.values() for course in group}
    is_share = all(metric.startswith("accuracy/") for metric in metrics)
    y = say("accuracy") if is_share else ", ".join(sorted(metrics))
    headline, lam = (
        [
            replace(_mean(label, [getattr(course, what) for course in group]), place=place)
            for place, (label, group) in enumerate(by_label.items())
        ]
        for what in ("headline", "lam")
    )
    scored = [line for line in headline if line.values]
    used = [line for line in lam if any(value > 0 for value in line.values)]
    shown: list[Figure] = [LineChart(key="overview", y=y, lines=scored, is_share=is_share)] if scored else []
    return [*shown, LineChart(key="overview-lam", y=say("lam_axis"), lines=used, is_log=True)] if used else shown


def foremost(figures: Sequence[Figure]) -> Figure | None:
    """The figure of a single run that stands above its findings."""
    curves = [
        each for each in figures if isinstance(each, LineChart) and any(len(line.steps) > 1 for line in each.lines)
    ]
    known = {figure.key: figure for figure in [*(each for each in figures if each.key == GROUPS), *curves]}
    return next((known[key] for key in (*CURVES, GROUPS) if key in known), None)


def _mean(label: str, curves: Sequence[Curve]) -> ChartLine:
    """The mean over seeds at their common checkpoints, with a band from the lowest to the highest."""
    held = [dict(zip(each.steps.tolist(), each.values.tolist(), strict=True)) for each in curves if len(each)]
    steps = sorted(set.intersection(*(set(each) for each in held))) if held else []
    at = [[each[step] for each in held] for step in steps]
    bands = ([min(values) for values in at], [max(values) for values in at]) if len(held) > 1 else ((), ())
    return ChartLine(label, [step + 1 for step in steps], [fmean(values) for values in at], *bands)
