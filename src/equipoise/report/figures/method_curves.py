"""The headline metric and λ over the checkpoints, one line per method: the mean over seeds in a band.

    band of the headline = mean ± t(.975, n−1)·std/√n over n ≥ 3 seeds; of two seeds, from the lower to the higher
    band of λ            = from the lowest seed to the highest: λ runs away in single runs, and its axis is logarithmic

A band of shares ends at 0 and 1; a single seed has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from equipoise.diagnose.recording import Curve
from equipoise.report.examined import RunCurves
from equipoise.report.figure import ChartLine, LineChart, thinned
from equipoise.report.figures.curves import MOST_POINTS
from equipoise.report.statistics import half_width
from equipoise.report.words import Say

Courses = Mapping[str, Sequence[RunCurves]]
"""Label of a method → its runs' curves."""
Band = Callable[[Sequence[float]], tuple[float, float]]


def method_curves(courses: Courses, places: Mapping[str, int], say: Say, setting: str = "") -> Iterator[LineChart]:
    """Both charts, with the same colours; `setting` is what all these runs face."""
    metrics = {course.metric for group in courses.values() for course in group}
    is_share = all(metric.startswith("accuracy/") for metric in metrics)
    y = say("accuracy") if is_share else ", ".join(sorted(metrics))
    headline, lam = (
        [
            _mean(label, [getattr(course, what) for course in group], band, places[label])
            for label, group in courses.items()
        ]
        for what, band in (("headline", _interval), ("lam", _range))
    )
    scored = [_within(line) if is_share else line for line in headline if line.values]
    used = [line for line in lam if any(value > 0 for value in line.values)]
    if scored:
        yield LineChart(key="overview", y=y, lines=scored, is_share=is_share, note=setting)
    if used:
        yield LineChart(key="overview-lam", y=say("lam_axis"), lines=used, is_log=True, note=setting)


def _mean(label: str, curves: Sequence[Curve], band: Band, place: int) -> ChartLine:
    """The mean at the checkpoints that all curves share."""
    held = [dict(zip(each.steps.tolist(), each.values.tolist(), strict=True)) for each in curves if len(each)]
    common = sorted(set.intersection(*(set(each) for each in held))) if held else []
    steps = [common[i] for i in thinned(len(common), MOST_POINTS)]
    at = [[each[step] for each in held] for step in steps]
    bands = [band(values) for values in at] if len(held) > 1 else []
    low, high = ([end[i] for end in bands] for i in (0, 1))
    return ChartLine(label, [step + 1 for step in steps], [fmean(values) for values in at], low, high, place=place)


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if len(values) == 2:
        return _range(values)
    mean, half = fmean(values), half_width(values)
    return mean - half, mean + half


def _within(line: ChartLine) -> ChartLine:
    """The line with a band between 0 and 1."""
    low, high = [max(value, 0.0) for value in line.low], [min(value, 1.0) for value in line.high]
    return ChartLine(line.name, line.steps, line.values, low, high, line.is_dashed, line.place)
