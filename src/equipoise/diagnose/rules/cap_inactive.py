"""A bound on λ that cannot bind, or never did.

    cap predicted by the first losses > ratio · λmax,   or
    the hinge never acted (trigger rate 0 throughout) and the reference run is identical

Source: original report 3 and its code: λ = 30 681 under λmax = 50.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "cap-inactive",
    severity="warning",
    when=("start",),
    reads=("fact:cap|lam/trigger_rate", "fact:lam_max"),
    limits=(Limit("ratio", 1.2, "predicted cap over λmax"),),
    says={
        "cap": "the bound λmax = {lam_max:.3g} does not bind: the first losses put λ at {cap:.3g}",
        "idle": "the bound λmax = {lam_max:.3g} never acted, and {other} has the same numbers",
    },
    cause="the penalty is too weak, or its trigger is never reached, so λ goes where it would have gone without it",
    remedies=(
        Remedy("clamp λ instead of penalising it", "balance=equilibrium"),
        Remedy("raise γ, the weight of the penalty"),
    ),
    explains=("bound-exceeded", "lambda-runaway"),
)
def cap_inactive(run: Recording, limit: Limits) -> Iterator[Sign]:
    cap, lam_max = run.facts.get("cap"), float(run.facts["lam_max"])
    if cap is not None and float(cap) > limit["ratio"] * lam_max:
        yield Sign(None, [], {"lam_max": lam_max, "cap": float(cap)}, "cap")
    rates = run.clients("lam/trigger_rate")
    is_idle = bool(rates) and all((rate.values == 0).all() for rate in rates)
    if is_idle and run.reference is not None and _is_same(run, run.reference):
        steps = sorted({int(step) for rate in rates for step in rate.steps})
        yield Sign(None, steps, {"lam_max": lam_max, "other": run.reference.name}, "idle")


def _is_same(run: Recording, other: Recording) -> bool:
    mine, its = run.server("accuracy/merged"), other.server("accuracy/merged")
    return len(mine) > 0 and np.array_equal(mine.values, its.values)
