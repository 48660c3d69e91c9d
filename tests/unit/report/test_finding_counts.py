from __future__ import annotations

from equipoise.diagnose.finding import Finding, Severity, Verdict
from equipoise.report.content import Configuration, GroupedFinding
from equipoise.report.finding_counts import counted
from tests.unit.report.sweeps import run_of


def method(label: str, **codes: tuple[Severity, int]) -> Configuration:
    """Findings by code: their severity, and the number of runs that have them."""
    findings = [
        GroupedFinding(Finding(code, severity, [], [], [], "", "", "", ""), [f"{label}/{i}" for i in range(n)])
        for code, (severity, n) in codes.items()
    ]
    return Configuration(label, [run_of(label)], findings, Verdict([], {}, []), run_of(label))


def test_findings_are_counted_by_method_and_the_most_severe_are_first() -> None:
    rows = counted(
        [method("a", seldom=("note", 1), often=("note", 4)), method("b", often=("note", 2), bad=("error", 1))]
    )
    found = [(row.finding.code, list(row.counts)) for row in rows]
    assert found == [("bad", [0, 1]), ("often", [4, 2]), ("seldom", [1, 0])]


def test_a_sweep_without_findings_has_no_table() -> None:
    assert counted([method("a"), method("b")]) == []
