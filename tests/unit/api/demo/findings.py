"""Findings for the tests of the demo."""

from __future__ import annotations

from dataclasses import replace

from equipoise.diagnose.finding import Finding

RUNAWAY = Finding(
    code="lambda-runaway",
    severity="error",
    clients=[0],
    steps=[1, 9],
    evidence=[{"client": 0, "first": 13.5}],
    saw="λ went from 13.5 to 1.47e+08",
    cause="no ceiling",
    remedy="bound it",
    override="balance=equilibrium",
)
HEALED = replace(RUNAWAY, healed={"step": 1, "changes": {"balance.ceiling": 11.3}})
