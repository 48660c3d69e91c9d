"""Every rule that a run of this program can show: a real run that it names, and a near miss that it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise.core.values import Event
from equipoise.diagnose.examine import examine
from equipoise.diagnose.recording import SERVER, Curve, Recording
from equipoise.diagnose.rule import RULES

FOLDER = Path(__file__).resolve().parents[1] / "data" / "rules"
BY_ARITHMETIC = {
    # what this program refuses to do, or cannot do by its design
    "noop-schedule", "empty-client", "etf-infeasible", "transform-mismatch", "batchnorm-not-merged", "frozen-drift",
    "stale-evaluation", "hidden-broadcast", "memory-leak", "memory-inert", "too-good", "partition-not-as-asked",
    "machine-lost", "version-mismatch",
    "test-selection", "surprise-saturated", "router-collapse", "client-outlier", "forgetting-signal",
    # what takes a second run, a table, a clock, or longer than a test may
    "over-alignment", "slow-client", "contrastive-at-chance", "gradient-conflict",
    "inactive-knob", "confounded", "noise-not-gain", "uncontrolled-gain", "unequal-budget", "mixed-protocol",
}  # fmt: skip
"""Rules whose two sides are in tests/unit/diagnose/test_rules.py alone."""


def recorded(code: str, kind: str) -> Recording:
    content: dict[str, Any] = json.loads((FOLDER / f"{code}.json").read_text(encoding="utf-8"))[kind]
    curves = {
        name: {
            int(client): Curve(None if int(client) == SERVER else int(client), np.array(steps), np.array(values, float))
            for client, (steps, values) in by.items()
        }
        for name, by in content["curves"].items()
    }
    events = [Event(each["kind"], each["message"], each["step"], each["client"]) for each in content["events"]]
    return Recording(content["run"], curves, content["facts"], events)


def test_every_rule_has_a_real_run_or_a_reason_why_not() -> None:
    real = {path.stem for path in FOLDER.glob("*.json")}
    assert real | BY_ARITHMETIC == set(RULES.names())
    assert not real & BY_ARITHMETIC


def test_fixtures_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 100_000


@pytest.mark.parametrize("code", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_a_rule_names_its_run(code: str) -> None:
    assert code in [finding.code for finding in examine(recorded(code, "fires")).findings]


@pytest.mark.parametrize("code", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_a_rule_is_silent_about_a_near_miss(code: str) -> None:
    assert code not in [finding.code for finding in examine(recorded(code, "near")).findings]
