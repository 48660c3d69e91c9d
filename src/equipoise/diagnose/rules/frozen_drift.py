"""Frozen tensors move.

the hash of the frozen tensors differs before and after a client's training;
if only one hash is recorded, it differs between two checkpoints
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import SERVER, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "frozen-drift",
    severity="error",
    when=("live",),
    reads=("hash/frozen",),
    says="what is declared frozen changed on {who} ({when})",
    cause="the optimiser was given more than the declared groups, or decay and buffers move what has no gradient",
    remedies=(Remedy("give the optimiser the declared groups only"),),
)
def frozen_drift(run: Recording, limit: Limits) -> Iterator[Sign]:
    for curve in [*run.clients("hash/frozen"), run.server("hash/frozen")]:
        before = run.of("hash/frozen/start", SERVER if curve.client is None else curve.client)
        steps, was = (curve.steps, before.values) if len(before) == len(curve) else (curve.steps[1:], curve.values[:-1])
        moved = curve.values[len(curve) - len(steps) :] != was
        if moved.any():
            yield Sign(curve.client, steps[moved].tolist())
