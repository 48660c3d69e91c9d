"""A user's interests changed.

an alarm of the stream (`drift`),   or
surprise of a slice > mean of the earlier slices + deviations · their deviation
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording, Steps
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "interest-drift",
    severity="note",
    when=("live",),
    reads=("drift|surprise/next",),
    limits=(
        Limit("deviations", 3.0, "deviations above the mean of earlier slices"),
        Limit("slices", 3, "earlier slices that are needed"),
    ),
    says="{who}: interest moved ({when})",
    cause="what the user chooses is unlike what this user chose before",
    remedies=(
        Remedy("weigh surprising samples more", "method.weighting=instance"),
        Remedy("remember less of the past: a shorter memory, or a shorter half-life"),
    ),
)
def interest_drift(run: Recording, limit: Limits) -> Iterator[Sign]:
    if alarms := run.clients("drift"):
        for alarm in alarms:
            if (alarm.values > 0).any():
                yield Sign(alarm.client, alarm.steps[alarm.values > 0].tolist())
        return
    for surprise in run.clients("surprise/next"):
        if len(steps := _jumps(surprise, limit)):
            yield Sign(surprise.client, steps.tolist())


def _jumps(curve: Curve, limit: Limits) -> Steps:
    """The slices that exceed the bound of the earlier ones."""
    least = int(limit["slices"])
    above = [
        t
        for t in range(least, len(curve))
        if curve.values[t] > curve.values[:t].mean() + limit["deviations"] * max(curve.values[:t].std(ddof=1), 1e-12)
    ]
    jumps: Steps = curve.steps[np.array(above, dtype=int)]
    return jumps
