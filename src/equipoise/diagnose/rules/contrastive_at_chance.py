"""A contrastive loss that looks healthy and is at chance.

|mean L_con − ln B| < share · ln B over the last half; B is the number of candidates of a step
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule


@Rule(
    "contrastive-at-chance",
    severity="warning",
    when=("live",),
    reads=("loss/align", "contrast/chance|fact:contrast_batch"),
    limits=(Limit("share", 0.02, "distance from ln B, relative to ln B"),),
    says="the contrastive loss is {loss:.3f}, and ln B is {chance:.3f} ({when})",
    cause="the two views of an item are no nearer to each other than to anything else",
    remedies=(Remedy("check that the features belong to the items, and lower τ"),),
)
def contrastive_at_chance(run: Recording, limit: Limits) -> Iterator[Sign]:
    half = run.steps // 2
    loss, recorded = run.mean("loss/align").since(half), run.mean("contrast/chance").since(half)
    if not len(loss):
        return
    chance = float(recorded.values.mean()) if len(recorded) else float(np.log(float(run.facts["contrast_batch"])))
    mean = float(loss.values.mean())
    if abs(mean - chance) < limit["share"] * chance:
        yield Sign(None, loss.steps.tolist(), {"loss": mean, "chance": chance})
