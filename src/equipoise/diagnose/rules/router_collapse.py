"""One expert gets all the weight, or the weights stay the same for every item.

mean weight of an expert > weight,   or (a note)   deviation of its weight between items < deviation;
both after the first `after` of the run, over at least `checkpoints` checkpoints
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "router-collapse",
    severity="warning",
    when=("live",),
    reads=("router/*",),
    limits=(
        Limit("weight", 0.9, "mean weight of one expert that is too much"),
        Limit("deviation", 0.01, "deviation between items below which weights are uniform"),
        Limit("after", 0.25, "share of the run that is left out at the start"),
        Limit("checkpoints", 3, "fewer checkpoints are not judged"),
    ),
    says={
        "one": "expert {expert} has {weight:.0%} of the weight ({when})",
        "uniform": "expert {expert} has the same weight for every item, ±{deviation:.2g} ({when})",
    },
    cause="the router has nothing to choose by, or was rewarded early for one choice and never tried another",
    remedies=(Remedy("give the router the user's state, and an entropy term that fades"),),
)
def router_collapse(run: Recording, limit: Limits) -> Iterator[Sign]:
    after, least = ceil(limit["after"] * run.steps), limit["checkpoints"]
    experts = [name for name in run.names("router/*") if name.count("/") == 1]
    if len(experts) < 2:
        return
    for name in experts:
        weight, spread = run.mean(name).since(after), run.mean(f"{name}/deviation").since(after)
        expert = name.removeprefix("router/")
        if len(weight) >= least and (mean := float(np.mean(weight.values))) > limit["weight"]:
            yield Sign(None, weight.steps.tolist(), {"expert": expert, "weight": mean}, "one")
        elif len(spread) >= least and (most := float(spread.values.max())) < limit["deviation"]:
            yield Sign(None, spread.steps.tolist(), {"expert": expert, "deviation": most}, "uniform", "note")
