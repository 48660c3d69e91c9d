"""The table of limits: when a number is a sign of failure. Every figure of every rule stands here and nowhere else.

Shares, slopes and ratios as the rules' docstrings use them; accuracies as shares of one. `--set lr-cut.low=0.1` and the
`diagnose` block of a configuration change them.
"""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import RULES, suggestion

LIMITS: Mapping[str, Mapping[str, float]] = {
    "lambda-runaway": {"slope": 0.35, "checkpoints": 2, "growth": 10.0, "settled": 2.0},
    "schedule-fights-learner": {
        "correlation": 0.95,
        "band": 0.25,
        "checkpoints": 5,
        "moves": 3.0,
        "clients": 0.5,
        "explained": 0.5,
    },
    "over-alignment": {"share": 0.8, "points": 0.03},
    "lr-cut": {"low": 0.25, "high": 4.0, "most": 0.5},
    "sigma-unstable": {"share": 0.6, "change": 0.1, "checkpoints": 5},
    "cap-inactive": {"ratio": 1.2},
    "bound-exceeded": {"ratio": 1.2},
    "ensemble-collapse": {"merged": 0.05, "local": 0.02, "jitters": 1.0, "norms": 2.0},
    "merge-below-client": {"points": 0.05, "probe": 0.10},
    "peak-then-collapse": {"points": 0.03, "jitters": 3.0, "checkpoints": 3},
    "noop-schedule": {"checkpoints": 3},
    "wasted-stage": {"ratio": 1.2},
    "forgetting-signal": {"returns": 0.8, "within": 0.2, "learnt": 0.6},
    "gradient-conflict": {"cosine": -0.1, "share": 0.5, "checkpoints": 4},
    "dead-term": {"checkpoints": 3},
    "starved-branch": {"grad": 0.01, "move": 0.1, "share": 0.1, "after": 0.25, "checkpoints": 3},
    "router-collapse": {"weight": 0.9, "deviation": 0.01, "after": 0.25, "checkpoints": 3},
    "temperature-inversion": {"correlation": 0.0},
    "weights-inert": {"variance": 1e-6, "ess": 0.999},
    "surprise-saturated": {"band": 0.1},
    "contrastive-at-chance": {"share": 0.02},
    "features-missing": {},
    "interest-drift": {"deviations": 3.0, "slices": 3},
    "memory-leak": {"gap": 0.02},
    "memory-inert": {"effect": 1e-6, "most": 0.95, "least": 0.01},
    "chance-level": {"errors": 2.0, "within": 0.005},
    "no-better-than-untrained": {"errors": 2.0},
    "too-good": {"hr": 0.95},
    "non-finite": {},
    "empty-client": {},
    "partition-overlap": {},
    "partition-not-as-asked": {"p": 0.001, "alpha": 0.1, "gap": 0.05},
    "etf-infeasible": {},
    "transform-mismatch": {"deviations": 0.5},
    "batchnorm-not-merged": {"points": 0.05},
    "stale-evaluation": {"evaluations": 3},
    "frozen-drift": {},
    "hidden-broadcast": {},
    "client-outlier": {"z": 3.5, "times": 3.0, "cosine": -0.2, "share": 0.5, "times_seen": 2, "clients": 5},
    "class-blind": {},
    "test-selection": {},
    "slow-client": {"ratio": 3.0, "share": 0.5, "clients": 3},
    "noise-not-gain": {"errors": 2.0, "seeds": 3},
    "uncontrolled-gain": {"recovers": 0.5},
    "inactive-knob": {},
    "confounded": {},
    "unequal-budget": {},
    "mixed-protocol": {},
}


def table_of_limits() -> dict[str, dict[str, float]]:
    """By code, the limits of every rule there is; a rule of a plugin brings its own."""
    own = {entry.name: dict(entry.make.limits) for entry in RULES}
    return own | {code: dict(line) for code, line in LIMITS.items()}


def limits(changes: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The table with these changes; a code or a limit that does not exist is an error that suggests the nearest."""
    problems = []
    table = table_of_limits()
    for code, line in changes.items():
        if code not in table:
            problems.append(Problem(code, f"there is no such rule{suggestion(code, list(table))}"))
            continue
        unknown = [name for name in line if name not in table[code]]
        for name in unknown:
            known = suggestion(name, list(table[code])) if table[code] else ", which has no limits"
            problems.append(Problem(f"{code}.{name}", f"not a limit of '{code}'{known}"))
        table[code] |= {name: value for name, value in line.items() if name not in unknown}
    if problems:
        raise ConfigError(problems)
    return table
