"""What a rule says: signs of a failure, gathered into one finding; and what a whole examination says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


@dataclass(frozen=True)
class Sign:
    """One place where the failure shows: a client (None: the server), checkpoints, and the numbers seen there."""

    client: int | None
    steps: Sequence[int]
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    form: str = ""
    """Which of the rule's sentences says it."""
    severity: Severity | None = None
    """Where it is not the rule's own."""
    row: str = ""
    """In a comparison, the row that it concerns."""


@dataclass(frozen=True)
class Finding:
    code: str
    severity: Severity
    clients: Sequence[int]
    steps: Sequence[int]
    """First and last checkpoint at which it shows, counted from 0; empty where time plays no part."""
    evidence: Sequence[Mapping[str, Any]]
    """The strongest signs first: client, steps, and what was seen."""
    saw: str
    cause: str
    remedy: str
    override: str
    """What to append to `equipoise run …`; empty where no setting helps."""
    because: Sequence[str] = ()
    """Codes of findings of the same run that explain this one."""
    rows: Sequence[str] = ()
    """In a comparison, the rows that it concerns."""
    healed: Mapping[str, Any] = field(default_factory=dict)
    """Where a guard reacted to it: the checkpoint, `step`, and the settings that it changed, `changes`."""

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
    """What was found, first the most severe and its causes; what could not be looked for; what was not found."""

    findings: Sequence[Finding]
    not_examined: Mapping[str, Sequence[str]]
    """By code, what is missing."""
    passed: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "not_examined": [{"code": code, "missing": list(missing)} for code, missing in self.not_examined.items()],
            "passed": list(self.passed),
        }
