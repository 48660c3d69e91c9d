"""All surprise values lie in a narrow band.

the middle 95 % of its values span less than `band`, on average over clients
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

MIDDLE = 3.92
"""Width of the middle 95 % of a normal distribution, in deviations."""


@Rule(
    "surprise-saturated",
    severity="warning",
    when=("live",),
    reads=("surprise/band|surprise/deviation",),
    limits=(Limit("band", 0.1, "width that holds the middle 95 % of surprise"),),
    says="95 % of all surprise lies within {band:.3f} ({when})",
    cause="losses are squashed without being centred and scaled, so every sample looks equally surprising",
    remedies=(Remedy("standardise losses per client before the sigmoid"),),
    explains=("weights-inert",),
)
def surprise_saturated(run: Recording, limit: Limits) -> Iterator[Sign]:
    span, deviation = run.mean("surprise/band"), run.mean("surprise/deviation")
    curve, factor = (span, 1.0) if len(span) else (deviation, MIDDLE)
    if (band := factor * float(curve.values.mean())) < limit["band"]:
        yield Sign(None, curve.steps.tolist(), {"band": band})
