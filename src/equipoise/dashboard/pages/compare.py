"""Runs side by side: the settings that differ first, then the numbers, the findings and the curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from equipoise.core.errors import ConfigError
from equipoise.dashboard.charts import Chart, chart
from equipoise.dashboard.excerpt import curve_of
from equipoise.dashboard.listing import RunLine, lines
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.report.comparison import flat_config
from equipoise.report.examined import RunCurves
from equipoise.report.figures.method_curves import method_curves
from equipoise.report.words import words
from equipoise.store import read
from equipoise.store.metrics import final_metrics
from equipoise.store.records import Run
from equipoise.store.validation import validation_metric

MOST_RUNS = 12
NOT_COMPARED = ("hash/", "rank/", "seconds")


class ComparedSetting(BaseModel):
    key: str
    values: list[str]


class ComparedNumber(BaseModel):
    name: str
    values: list[float | None]
    spread: float | None
    """Largest minus smallest; None where a run has no such number."""


class ComparePage(BaseModel):
    runs: list[RunLine]
    differing: list[ComparedSetting]
    n_shared: int
    """Settings that all runs share."""
    numbers: list[ComparedNumber]
    findings: list[dict[str, str]]
    """{run id: severity} per run and code, as rows {code, run ids}."""
    charts: list[Chart]


def compare_page(board: Dashboard, ids: Sequence[str], visitor: Visitor) -> ComparePage:
    runs = list({run.run_id: run for run in (read.find_run(board.store, each) for each in ids)}.values())
    if not 1 < len(runs) <= MOST_RUNS:
        fix = "tick runs in the list, then Compare"
        raise ConfigError(f"2 to {MOST_RUNS} different runs can be compared, not {len(runs)}", fix=fix)
    settings = _settings(runs)
    differing = [each for each in settings if len(set(each.values)) > 1]
    return ComparePage(
        runs=lines(board.store, runs, board.now(runs)),
        differing=differing,
        n_shared=len(settings) - len(differing),
        numbers=_numbers([final_metrics(board.store, run.run_id) for run in runs], runs[0].headline),
        findings=_findings(board, runs),
        charts=_charts(board, runs, visitor.language),
    )


def _settings(runs: Sequence[Run]) -> list[ComparedSetting]:
    flats = [{**flat_config(run.config), "seed": run.seed} for run in runs]
    keys = dict.fromkeys(key for flat in flats for key in flat)
    return [ComparedSetting(key=key, values=[_text(flat.get(key)) for flat in flats]) for key in keys]


def _text(value: Any) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _numbers(found: Sequence[Mapping[str, float]], first: str) -> list[ComparedNumber]:
    """The headline first, then the numbers that differ most, for their size."""
    names = [
        name for name in dict.fromkeys(name for each in found for name in each) if not name.startswith(NOT_COMPARED)
    ]
    rows = [_number(name, [each.get(name) for each in found]) for name in names]

    def weight(row: ComparedNumber) -> tuple[bool, float]:
        known = [abs(value) for value in row.values if value is not None]
        return row.name != first, -(row.spread or 0.0) / (max(known, default=0.0) or 1.0)

    return sorted(rows, key=weight)


def _number(name: str, values: Sequence[float | None]) -> ComparedNumber:
    finite = [value if value is not None and math.isfinite(value) else None for value in values]
    known = [value for value in finite if value is not None]
    spread = max(known) - min(known) if len(known) == len(finite) else None
    return ComparedNumber(name=name, values=finite, spread=spread)


def _findings(board: Dashboard, runs: Sequence[Run]) -> list[dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for run in runs:
        for body in read.findings(board.store, run.run_id):
            found.setdefault(body["code"], {"code": body["code"]})[run.run_id] = body["severity"]
    return list(found.values())


def _charts(board: Dashboard, runs: Sequence[Run], language: str) -> list[Chart]:
    say = words(language)
    courses = {}
    for run in runs:
        headline = curve_of(board.store, run.run_id, run.headline)
        shown = headline if len(headline) > 1 else curve_of(board.store, run.run_id, validation_metric(run))
        lam = curve_of(board.store, run.run_id, "lam/used", mean=True)
        courses[run.run_id] = [RunCurves(run.headline, shown, lam)]
    places = {label: place for place, label in enumerate(courses)}
    return [chart(figure, say) for figure in method_curves(courses, places, say)]
