"""The gradients of the base and the alignment loss point in opposite directions.

cos(∇L_b, ∇L_a) < cosine in more than `share` of the checkpoints
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "gradient-conflict",
    severity="note",
    when=("live",),
    reads=("grad/cosine",),
    limits=(
        Limit("cosine", -0.1, "a cosine below this is a conflict"),
        Limit("share", 0.5, "share of the checkpoints with a conflict"),
        Limit("checkpoints", 4, "fewer checkpoints are not judged"),
    ),
    says="the gradients of base and align have a cosine of {cosine:.2f} on {who} ({when})",
    cause="what aligns the prototypes undoes what the local task learns",
    remedies=(
        Remedy("lower λ", "balance=entropy"),
        Remedy("a small constant λ", "balance=constant balance.lam=0.1"),
        Remedy("project one gradient onto the other's normal plane"),
    ),
)
def gradient_conflict(run: Recording, limit: Limits) -> Iterator[Sign]:
    found = []
    for curve in run.clients("grad/cosine"):
        against = curve.values < limit["cosine"]
        if len(curve) >= limit["checkpoints"] and against.mean() > limit["share"]:
            found.append(Sign(curve.client, curve.steps[against].tolist(), {"cosine": float(np.median(curve.values))}))
    yield from sorted(found, key=lambda sign: float(sign.numbers["cosine"]))
