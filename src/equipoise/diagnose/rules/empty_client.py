"""A client that never trains.

no steps while other clients take some,   or   fewer samples than a batch if the last batch is dropped
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "empty-client",
    severity="error",
    when=("start",),
    reads=("steps|samples",),
    says={
        "steps": "{who} took no step",
        "batch": "{who} has {samples:.0f} samples, less than a batch of {batch:.0f}, and the last batch is dropped",
    },
    cause="the client has no data, or less than one batch where an incomplete batch is dropped",
    remedies=(
        Remedy("ask the splitter for a minimum, and keep the last batch", "partition.min_size=10"),
        Remedy("fewer clients, or more data: somebody has nothing to train on"),
    ),
)
def empty_client(run: Recording, limit: Limits) -> Iterator[Sign]:
    steps = run.clients("steps")
    if any((curve.values > 0).any() for curve in steps):
        for curve in steps:
            if (curve.values == 0).all():
                yield Sign(curve.client, curve.steps.tolist(), {"steps": 0}, "steps")
    if run.facts.get("drop_last") and (batch := run.facts.get("batch")) is not None:
        for curve in run.clients("samples"):
            if (curve.values < float(batch)).all():
                numbers = {"samples": float(curve.values[0]), "batch": float(batch)}
                yield Sign(curve.client, curve.steps.tolist(), numbers, "batch")
