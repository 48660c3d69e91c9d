"""One client delays the round.

its seconds > ratio · max(median of the cohort, least), at more than `share` of its checkpoints
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "slow-client",
    severity="note",
    when=("live",),
    reads=("seconds",),
    limits=(
        Limit("ratio", 3.0, "seconds over the cohort's median"),
        Limit("share", 0.5, "share of the client's checkpoints that must show it"),
        Limit("least", 0.005, "seconds; a shorter median counts as this long"),
        Limit("clients", 3, "fewer clients are not judged"),
    ),
    says="{who} took {times:.1f} times the median of the round ({when})",
    cause="it holds more data or a slower machine, and everybody waits",
    remedies=(
        Remedy("more workers: the longest are started first", "engine=processes"),
        Remedy("a time limit for a client", "engine.timeout=600"),
        Remedy("give that client fewer steps, or more of a machine"),
    ),
)
def slow_client(run: Recording, limit: Limits) -> Iterator[Sign]:
    curves = run.clients("seconds")
    if len(curves) < limit["clients"]:
        return
    at: dict[int, list[float]] = defaultdict(list)
    for curve in curves:
        for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
            at[step].append(value)
    median = {step: float(np.median(values)) for step, values in at.items()}
    for curve in curves:
        times = curve.values / np.maximum([median[int(step)] for step in curve.steps], limit["least"])
        if (slow := times > limit["ratio"]).mean() > limit["share"]:
            yield Sign(curve.client, curve.steps[slow].tolist(), {"times": float(np.median(times[slow]))})
