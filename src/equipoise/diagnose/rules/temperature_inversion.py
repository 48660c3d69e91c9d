"""Surprising samples get a smaller loss.

    corr(surprise, weight · contrastive loss of a sample) < correlation,
    as a mean over clients and checkpoints, by more than two standard errors

A temperature that grows with surprise flattens the softmax of the samples that should count most.
Source: original report 5.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "temperature-inversion",
    severity="warning",
    when=("live",),
    reads=("surprise/loss_corr",),
    limits=(Limit("correlation", 0.0, "a correlation below this is inverted"),),
    says="surprise and the pull of a sample correlate by {correlation:+.2f} over {n} clients ({when})",
    cause="the temperature grows with surprise, so the loss of surprising samples shrinks instead of growing",
    remedies=(
        Remedy("keep τ fixed and weigh samples one by one", "method.weighting=instance"),
        Remedy("keep τ fixed"),
    ),
)
def temperature_inversion(run: Recording, limit: Limits) -> Iterator[Sign]:
    means = np.array([curve.values.mean() for curve in run.clients("surprise/loss_corr")])
    if len(means) < 2:
        return
    error = means.std(ddof=1) / np.sqrt(len(means))
    if means.mean() + 2 * error < limit["correlation"]:
        steps = run.mean("surprise/loss_corr").steps
        yield Sign(None, steps.tolist(), {"correlation": float(means.mean()), "n": len(means)})
