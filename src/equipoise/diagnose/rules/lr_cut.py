"""An uncertainty weight on the base loss scales the learning rate.

    multiplier of ∇L_b < low or > high   at more than `most` of the checkpoints

If only σ²_b is recorded, the multiplier is taken as 1/(2σ²_b), which holds for a coupled loss.
Source: original report 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "lr-cut",
    severity="warning",
    when=("live",),
    reads=("scale/base|sigma2/base",),
    limits=(
        Limit("low", 0.25, "a multiplier below this slows training"),
        Limit("high", 4.0, "a multiplier above this speeds training up"),
        Limit("most", 0.5, "share of the checkpoints that must be outside"),
    ),
    says={
        "known": "the base loss is multiplied by {scale:.3g} on {who} ({when})",
        "coupled": "if the loss is coupled, its base is multiplied by {scale:.3g} on {who} ({when})",
    },
    cause="1/(2σ²) stands in front of the whole loss: a large σ is a small learning rate, a small σ a large one",
    remedies=(
        Remedy("decouple: let σ set λ only, and leave the base loss as it is", "balance=decoupled"),
        Remedy("scale the learning rate back by what the loss is multiplied with"),
    ),
    explains=("over-alignment",),
)
def lr_cut(run: Recording, limit: Limits) -> Iterator[Sign]:
    known = run.clients("scale/base")
    form = "known" if known else "coupled"
    found = []
    for curve in known or [_coupled(sigma2) for sigma2 in run.clients("sigma2/base")]:
        off = (curve.values < limit["low"]) | (curve.values > limit["high"])
        if off.mean() > limit["most"]:
            numbers = {"scale": float(np.median(curve.values[off]))}
            found.append(Sign(curve.client, curve.steps[off].tolist(), numbers, form))
    yield from sorted(found, key=lambda sign: -abs(np.log(max(float(sign.numbers["scale"]), 1e-300))))


def _coupled(sigma2: Curve) -> Curve:
    return Curve(sigma2.client, sigma2.steps, 1 / (2 * np.maximum(sigma2.values, 1e-300)))
