"""A loss that trains nothing, or a weight that no loss trains.

    on every client: the term's gradient norm is exactly 0 at all checkpoints, or its value never changes;
    a weight on which no loss depends at any checkpoint of the finished run (a later stage may reach it)

A term that is 0 throughout is satisfied, which is a note: FAFI's contrast between long prototypes is one. A single
client may rightly have a term of 0, such as a contrast on a client with one class.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

PREFIXES = ("grad/norm/", "loss/")
UNREACHED = "grad/unreached/"


@Rule(
    "dead-term",
    severity="warning",
    when=("live",),
    reads=("grad/norm/*|loss/*|grad/unreached/*",),
    limits=(Limit("checkpoints", 3, "fewer checkpoints are not judged"),),
    says={
        "gradient": "the term {term} has a gradient of exactly 0 on {who} ({when})",
        "value": "the term {term} is {value:.4g} throughout on {who} ({when})",
        "zero": "the term {term} is 0 throughout on {who} ({when})",
        "weight": "the weight {weight} is trained and sent, and no loss depends on it ({when})",
    },
    cause="the loss and the weights that are trained are not connected, or a term has nothing to compare",
    remedies=(Remedy("connect it, or leave it out"),),
)
def dead_term(run: Recording, limit: Limits) -> Iterator[Sign]:
    terms = {name.removeprefix(prefix) for prefix in PREFIXES for name in run.names(f"{prefix}*")}
    for term in sorted(terms):
        gradients, values = (_long(run.clients(f"{prefix}{term}"), limit) for prefix in PREFIXES)
        is_still = bool(gradients) and all((curve.values == 0).all() for curve in gradients)
        is_flat = bool(values) and all((curve.values == curve.values[0]).all() for curve in values)
        is_zero = bool(values) and all((curve.values == 0).all() for curve in values)
        if is_zero:
            yield from (Sign(curve.client, curve.steps.tolist(), {"term": term}, "zero", "note") for curve in values)
        elif is_still:
            yield from (Sign(curve.client, curve.steps.tolist(), {"term": term}, "gradient") for curve in gradients)
        elif is_flat:
            for curve in values:
                yield Sign(curve.client, curve.steps.tolist(), {"term": term, "value": float(curve.values[0])}, "value")
    for name in run.names(f"{UNREACHED}*") if run.last + 1 == run.steps else ():
        steps, whole = (run.mean(each).steps.tolist() for each in (name, "grad/norm"))
        if len(steps) >= limit["checkpoints"] and steps == whole:
            yield Sign(None, steps, {"weight": name.removeprefix(UNREACHED)}, "weight")


def _long(curves: list[Curve], limit: Limits) -> list[Curve]:
    return [curve for curve in curves if len(curve) >= limit["checkpoints"]]
