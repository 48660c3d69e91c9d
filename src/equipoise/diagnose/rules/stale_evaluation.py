"""Metrics of an earlier evaluation are recorded again.

all metrics of the server's evaluation, including the loss, are equal to the last digit in `evaluations` evaluations
in a row while clients moved
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import SERVER, Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

SCORES = ("accuracy/*", "loss/*", "recall/*", "hr@*", "ndcg@*", "mrr/*")
CONSTANT = ("/chance", "/itempop", "/markov")


@Rule(
    "stale-evaluation",
    severity="warning",
    when=("live",),
    reads=("accuracy/*|hr@*|loss/merged", "update/norm"),
    limits=(Limit("evaluations", 3, "identical evaluations in a row"),),
    says="{n} metrics did not change in any digit at {times} evaluations while clients moved by {moved:.3g} ({when})",
    cause="a metric of an earlier evaluation was written down again",
    remedies=(Remedy("record each evaluation under its own round"),),
)
def stale_evaluation(run: Recording, limit: Limits) -> Iterator[Sign]:
    names = {name for pattern in SCORES for name in run.names(pattern) if not name.endswith(CONSTANT)}
    curves = [run.curves[name][SERVER] for name in sorted(names) if SERVER in run.curves[name]]
    if len(curves) < 2:
        return
    steps = curves[0].steps
    curves = [curve for curve in curves if np.array_equal(curve.steps, steps)]
    table = np.array([curve.values for curve in curves])
    same = (table[:, 1:] == table[:, :-1]).all(axis=0)
    on_end = 0
    for t, is_same in enumerate(same):
        on_end = on_end + 1 if is_same else 0
        if on_end + 1 >= limit["evaluations"]:
            stretch = steps[t + 1 - on_end : t + 2]
            moved = run.mean("update/norm").since(int(stretch[0])).until(int(stretch[-1]))
            if len(moved) and moved.values.min() > 0:
                numbers = {"n": len(curves), "times": on_end + 1, "moved": float(moved.values.mean())}
                yield Sign(None, stretch.tolist(), numbers)
                return
