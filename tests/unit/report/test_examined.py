from __future__ import annotations

import pytest

from equipoise.diagnose.finding import Finding, Severity, Verdict
from equipoise.report.examined import ExaminedRun, badness, examined, grouped
from tests.unit.diagnose.runs import run_of as recorded
from tests.unit.report.sweeps import run_of


def test_clients_end_with_their_last_finite_accuracy() -> None:
    curves = {"accuracy/test": {0: [0.1, 0.2], 1: [0.3, float("nan")], 2: [float("nan")]}}
    seen = examined(run_of("a"), recorded(curves), "en")
    assert seen.clients.tolist() == pytest.approx([0.2, 0.3])


def test_a_run_without_scores_of_clients_has_none() -> None:
    assert examined(run_of("a"), recorded({}), "en").clients.tolist() == []


def test_a_headline_of_one_checkpoint_is_drawn_on_validation() -> None:
    server = {"accuracy/merged": [0.5], "accuracy/validation": [0.1, 0.2]}
    course = examined(run_of("a"), recorded({}, server), "en").course
    assert course.headline.values.tolist() == pytest.approx([0.1, 0.2])


def test_each_finding_is_kept_once_in_the_order_of_the_worst_run() -> None:
    def seen(run_id: str, seed: int, *codes: tuple[str, Severity]) -> ExaminedRun:
        findings = [Finding(code, severity, [], [], [], run_id, "", "", "") for code, severity in codes]
        fresh = examined(run_of(run_id, seed), recorded({}), "en")
        return ExaminedRun(fresh.run, Verdict(findings, {}, []), fresh.course, fresh.clients)

    calm, worst = seen("calm", 0, ("x", "note")), seen("worst", 1, ("y", "error"), ("x", "note"))
    assert badness(worst) > badness(calm)
    found = grouped([calm, worst])
    assert [(each.finding.code, each.finding.saw, list(each.runs)) for each in found] == [
        ("y", "worst", ["worst"]), ("x", "worst", ["worst", "calm"]),
    ]  # fmt: skip
