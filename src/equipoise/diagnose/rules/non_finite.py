"""NaN or infinity.

a client was stopped for a non-finite number,   or   a recorded number is not finite
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule

FEATURES = "gives features that are not finite"
BAD = re.compile(rf" is (nan|-?inf)\b|{FEATURES}")


def of_features(run: Recording) -> bool:
    """Whether the encoder gave such numbers, before any step."""
    return any(FEATURES in event.message for event in run.events)


def said(message: str) -> str:
    """The part of a message that names the number."""
    parts = [part.strip() for part in message.split(";")]
    return next((part for part in parts if BAD.search(part)), parts[0])


@Rule(
    "non-finite",
    severity="error",
    when=("live",),
    reads=("*|fact:status",),
    sees_all=True,
    says={
        "event": "{who} was stopped: {what} ({when})",
        "number": "{name} is {value} on {who} ({when})",
    },
    cause="a step was too large for the loss at that point, or the encoder gave such features",
    remedies=(
        Remedy("look at the samples for which the encoder gives such features, or choose another", fits=of_features),
        Remedy("clip the gradient; the client's last good state is kept", "client.clip=1.0"),
        Remedy("lower the learning rate; the client's last good state is kept", "client.lr={lr}"),
        Remedy("lower the learning rate or clip the gradient"),
    ),
    explains=("chance-level", "peak-then-collapse", "ensemble-collapse"),
)
def non_finite(run: Recording, limit: Limits) -> Iterator[Sign]:
    found = []
    for event in run.events:
        if event.kind == "client-non-finite" or (event.kind == "failed" and BAD.search(event.message)):
            found.append(Sign(event.client, [event.step or 0], {"what": said(event.message)}, "event"))
    for name, by in run.curves.items():
        for curve in by.values():
            bad = ~np.isfinite(curve.values)
            if bad.any():
                first = int(curve.steps[bad][0])
                found.append(Sign(curve.client, [first], {"name": name, "value": str(curve.values[bad][0])}, "number"))
    yield from sorted(found, key=lambda sign: (sign.steps[0], sign.client is None))
