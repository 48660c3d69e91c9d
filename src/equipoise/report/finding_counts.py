"""Findings of a sweep as a table: findings down, methods across, and in how many runs of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.diagnose.finding import SEVERITIES, Finding
from equipoise.report.content import Configuration


@dataclass(frozen=True)
class CountedFinding:
    """One row: the finding, and the number of runs of each method that have it."""

    finding: Finding
    counts: Sequence[int]


def counted(methods: Sequence[Configuration]) -> list[CountedFinding]:
    """The most severe findings first, then those of most runs."""
    found = {each.finding.code: each.finding for method in methods for each in method.findings}
    rows = [CountedFinding(finding, [_n(method, code) for method in methods]) for code, finding in found.items()]
    return sorted(rows, key=lambda row: (-SEVERITIES.index(row.finding.severity), -sum(row.counts)))


def _n(method: Configuration, code: str) -> int:
    return sum(len(each.runs) for each in method.findings if each.finding.code == code)
