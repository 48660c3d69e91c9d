"""A result that equals chance.

    metric < chance + errors · √(chance·(1 − chance)/n)   at the end        n test images or users
    metric < chance + within                               if n is unknown

Chance is 1/C for accuracy; rankings record their own. If C is unknown, it is the number of recorded recalls. Without
recalls, C is inferred from an accuracy that stays at 1/C for a whole number C after all losses became non-finite
(missing, empty or NaN).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

ACCURACIES = ("accuracy/merged", "accuracy/clients")
CHANCES = ("hr@10/full/chance", "hr@10/uni100/chance")
RESULTS = "accuracy/merged|accuracy/clients|hr@10/full|hr@10/uni100"
KNOWN = "|".join(["fact:classes", "recall/*", "loss/*", *CHANCES])
"""Inputs from which chance is known."""
STILL = 2
"""Checkpoints over which an accuracy must stay the same."""


@Rule(
    "chance-level",
    severity="warning",
    when=("end",),
    reads=(RESULTS, KNOWN),
    limits=(
        Limit("errors", 2.0, "standard errors above chance"),
        Limit("within", 0.005, "distance from chance where the number of test samples is unknown"),
    ),
    sees_all=True,
    says={
        "tested": "{name} is {value:.2%} ± {error:.2%}, and chance is {chance:.2%}",
        "table": "{name} is {value:.2%}, and chance is {chance:.2%}",
    },
    cause="nothing was learnt, or what was learnt is lost on the way to the merged model",
    remedies=(Remedy("see the other findings; without one, train longer or check the labels"),),
)
def chance_level(run: Recording, limit: Limits) -> Iterator[Sign]:
    tested = run.facts.get("tested")
    for name, curve, chance in _results(run, limit):
        error = limit["within"] if tested is None else limit["errors"] * sqrt(chance * (1 - chance) / float(tested))
        value = float(curve.values[-1])
        if value < chance + error:
            numbers: dict[str, float | str] = {"name": name, "value": value, "chance": chance}
            if tested is not None:
                numbers["error"] = error / limit["errors"]
            yield Sign(None, [int(curve.steps[-1])], numbers, "table" if tested is None else "tested")


def _results(run: Recording, limit: Limits) -> Iterator[tuple[str, Curve, float]]:
    """(metric, its finite values, chance) for each metric whose chance level is known."""
    for name in ACCURACIES:
        if len(curve := run.server(name).finite()):
            if (classes := _classes(run, curve, limit)) is not None:
                yield name, curve, 1 / classes
            break
    for chance in CHANCES:
        curve, level = run.server(chance.removesuffix("/chance")).finite(), run.server(chance).finite()
        if len(curve) and len(level):
            yield chance.removesuffix("/chance"), curve, float(level.values[-1])


def _classes(run: Recording, accuracy: Curve, limit: Limits) -> float | None:
    known = run.facts.get("classes") or len(run.names("recall/*"))
    if known:
        return float(known)
    value = float(accuracy.values[-1])
    nearest = round(1 / value) if value > limit["within"] else 0
    is_still = len(accuracy) >= STILL and np.ptp(accuracy.values[-STILL:]) < limit["within"]
    is_one_of = nearest > 1 and abs(value - 1 / nearest) < limit["within"]
    return float(nearest) if is_still and is_one_of and _lost_losses(run) else None


def _lost_losses(run: Recording) -> bool:
    """Whether every recorded loss is non-finite at the end."""
    losses = [curve for name in run.names("loss/*") for curve in run.curves[name].values()]
    ends = [curve.finite() for curve in losses]
    return bool(losses) and all(not len(curve) or int(curve.steps[-1]) < run.last for curve in ends)
