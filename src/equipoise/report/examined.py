"""Runs as a report reads them, one after another: the verdict, the headline's course, the clients at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.values import Floats
from equipoise.diagnose.examine import examine
from equipoise.diagnose.finding import SEVERITIES, Verdict
from equipoise.diagnose.recording import Curve, Recording
from equipoise.report.content import GroupedFinding
from equipoise.store.records import Run
from equipoise.store.validation import validation_metric

OWN = "accuracy/test"
"""Test accuracy of a client's own model."""


@dataclass(frozen=True)
class RunCurves:
    """One run's headline metric and λ over the checkpoints."""

    metric: str
    headline: Curve
    lam: Curve


@dataclass(frozen=True)
class ExaminedRun:
    """What is kept of a run while the other runs are read."""

    run: Run
    verdict: Verdict
    course: RunCurves
    clients: Floats
    """float64 [K]: the last recorded accuracy of each client's own model; empty if none was recorded."""


def examined(run: Run, recorded: Recording, language: str) -> ExaminedRun:
    tested = recorded.server(run.headline).finite()
    headline = tested if len(tested) > 1 else recorded.server(validation_metric(run)).finite()
    course = RunCurves(run.headline, headline, recorded.mean("lam/used"))
    ends = [curve.values[-1] for curve in (each.finite() for each in recorded.clients(OWN)) if len(curve)]
    return ExaminedRun(run, examine(recorded, run.config.get("limits"), language), course, np.array(ends, np.float64))


def badness(seen: ExaminedRun) -> tuple[int, int]:
    """Sort key: the most severe finding; on ties the smaller seed."""
    worst = max((SEVERITIES.index(each.severity) for each in seen.verdict.findings), default=-1)
    return worst, -seen.run.seed


def grouped(group: Sequence[ExaminedRun]) -> list[GroupedFinding]:
    """Each finding once, in the order of the worst run."""
    order = sorted(group, key=badness, reverse=True)
    codes = dict.fromkeys(each.code for seen in order for each in seen.verdict.findings)
    made = {
        code: [(s.run.run_id, each) for s in order for each in s.verdict.findings if each.code == code]
        for code in codes
    }
    return [GroupedFinding(found[0][1], [run_id for run_id, _ in found]) for found in made.values()]
