"""λ exceeds its declared bound.

    λ > ratio · λmax

Source: original report 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


def wall(run: Recording, config: Mapping[str, Any]) -> dict[str, Any]:
    """Turns the declared bound into a hard ceiling, for policies that learn λ."""
    return {"balance.ceiling": float(run.facts["lam_max"])} if "sigma" in config["balance"] else {}


@Rule(
    "bound-exceeded",
    severity="warning",
    when=("live",),
    reads=("lam", "fact:lam_max"),
    limits=(Limit("ratio", 1.2, "λ over λmax"),),
    says="λ reached {lam:.3g} on {who}, beyond its declared λmax = {lam_max:.3g} ({when})",
    cause="the bound is a penalty that pulls λ back, not a wall",
    remedies=(
        Remedy("clamp λ after every step", "balance=equilibrium"),
        Remedy("a lower λmax, which a hard bound of your own keeps"),
    ),
    heal=wall,
)
def bound_exceeded(run: Recording, limit: Limits) -> Iterator[Sign]:
    lam_max = float(run.facts["lam_max"])
    found = []
    for lam in run.clients("lam"):
        beyond = lam.values > limit["ratio"] * lam_max
        if beyond.any():
            numbers = {"lam": float(lam.values.max()), "lam_max": lam_max}
            found.append(Sign(lam.client, lam.steps[beyond].tolist(), numbers))
    yield from sorted(found, key=lambda sign: -float(sign.numbers["lam"]))
