"""What rules return: signs of a failure, the finding made from them, and the verdict of a whole examination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


@dataclass(frozen=True)
class Sign:
    """One place where a failure shows: a client (None: the server), checkpoints, and the numbers seen there."""

    client: int | None
    steps: Sequence[int]
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    form: str = ""
    """Which of the rule's sentences describes it."""
    severity: Severity | None = None
    """Where it differs from the rule's severity."""
    row: str = ""
    """In a comparison, the label of the row that it concerns."""


@dataclass(frozen=True)
class Finding:
    """One failure of one run or comparison: the evidence, the likely cause and the advice."""

    code: str
    severity: Severity
    clients: Sequence[int]
    steps: Sequence[int]
    """First and last checkpoint at which it shows, counted from 0; empty where time plays no part."""
    evidence: Sequence[Mapping[str, Any]]
    """The strongest signs first: client, steps, and the numbers seen."""
    saw: str
    cause: str
    remedy: str
    override: str
    """What to append to `equipoise run …`; empty where no setting helps."""
    because: Sequence[str] = ()
    """Codes of findings of the same run that explain this one."""
    rows: Sequence[str] = ()
    """In a comparison, the labels of the rows that it concerns."""
    healed: Mapping[str, Any] = field(default_factory=dict)
    """If a guard reacted: the checkpoint `step` and the settings `changes` that it made."""

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity,
            "clients": list(self.clients),
            "steps": list(self.steps),
            "evidence": [dict(row) for row in self.evidence],
            "saw": self.saw,
            "cause": self.cause,
            "remedy": self.remedy,
            "override": self.override,
            "because": list(self.because),
            "rows": list(self.rows),
            "healed": dict(self.healed),
        }


@dataclass(frozen=True)
class Verdict:
    """An examination: the findings, the rules that could not be examined, and the rules that found nothing."""

    findings: Sequence[Finding]
    not_examined: Mapping[str, Sequence[str]]
    """By code, the inputs that are missing; of a plugin's rule that failed, its error."""
    passed: Sequence[str]
    faults: Mapping[str, str] = field(default_factory=dict)
    """By code, the errors of plugins' rules."""

    def to_json(self) -> dict[str, Any]:
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "not_examined": [{"code": code, "missing": list(missing)} for code, missing in self.not_examined.items()],
            "passed": list(self.passed),
        }
