"""A schedule that never moves.

    s (or λ, if s is not recorded) is identical at every checkpoint although the policy has a schedule

Example: progress counted within a round of one epoch is always 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "noop-schedule",
    severity="warning",
    when=("live",),
    reads=("schedule|lam", "fact:scheduled"),
    limits=(Limit("checkpoints", 3, "fewer checkpoints are not judged"),),
    says="{what} is {value:.4g} at every checkpoint on {who} ({when})",
    cause="progress is counted within something that is over before it moves, such as a round of one epoch",
    remedies=(Remedy("count progress over the whole run"),),
)
def noop_schedule(run: Recording, limit: Limits) -> Iterator[Sign]:
    if not run.facts["scheduled"]:
        return
    name = "schedule" if run.clients("schedule") else "lam"
    curves = [curve for curve in run.clients(name) if len(curve) >= limit["checkpoints"]]
    if curves and all((curve.values == curve.values[0]).all() for curve in curves):
        for curve in curves:
            yield Sign(curve.client, curve.steps.tolist(), {"what": name, "value": float(curve.values[0])})
