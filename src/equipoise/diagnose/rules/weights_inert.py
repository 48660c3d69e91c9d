"""Instance weights have no effect.

variance of the weights within a step < variance,   or   effective sample size > ess; means over clients
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "weights-inert",
    severity="warning",
    when=("live",),
    reads=("weights/variance|weights/ess",),
    limits=(
        Limit("variance", 1e-06, "variance of the weights below which they are alike"),
        Limit("ess", 0.999, "effective sample size, as a share, above which they are alike"),
    ),
    says="the instance weights are all alike: {name} is {value:.4g} ({when})",
    cause="weights are applied to a mean, or come from a surprise that hardly differs between samples",
    remedies=(
        Remedy("multiply each sample's loss by its weight before the mean", "method.weighting=instance"),
        Remedy("weigh samples before the mean, not after it"),
    ),
    explains=("temperature-inversion",),
)
def weights_inert(run: Recording, limit: Limits) -> Iterator[Sign]:
    variance, ess = run.mean("weights/variance"), run.mean("weights/ess")
    if len(variance) and (value := float(variance.values.mean())) < limit["variance"]:
        yield Sign(None, variance.steps.tolist(), {"name": "weights/variance", "value": value})
    elif len(ess) and (value := float(ess.values.mean())) > limit["ess"]:
        yield Sign(None, ess.steps.tolist(), {"name": "weights/ess", "value": value})
