"""A run ends far below its best.

mean of the last `checkpoints` checkpoints < best mean of as many − max(points, jitters · jitter)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.noise import jitter, smooth
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Limits, Rule

HEADLINES = ("accuracy/merged", "accuracy/clients", "hr@10/full/validation")


@Rule(
    "peak-then-collapse",
    severity="warning",
    when=("end",),
    reads=("|".join(HEADLINES),),
    limits=(
        Limit("points", 0.03, "drop from the best mean, as a share of one"),
        Limit("jitters", 3.0, "the drop must exceed this many jitters of the curve"),
        Limit("checkpoints", 3, "checkpoints in a mean"),
    ),
    says="{what} ends at {now:.1%}, {lost:.1f} points below its best at {when}",
    cause="training went on after the point at which it helped",
    remedies=(
        Remedy(
            "stop when validation no longer improves; the findings beside this one say why it fell",
            "evaluate.patience=3",
        ),
        Remedy("report the checkpoint that validation likes best; the findings beside this one say why it fell"),
    ),
    explains=("class-blind",),
)
def peak_then_collapse(run: Recording, limit: Limits) -> Iterator[Sign]:
    what = next(name for name in HEADLINES if run.curves.get(name))
    curve, width = run.server(what), int(limit["checkpoints"])
    if len(curve) <= width:
        return
    means = smooth(curve.values, width)
    peak = int(np.argmax(means))
    lost = float(means[peak] - means[-1])
    if lost > max(limit["points"], limit["jitters"] * jitter(curve.values)):
        steps = curve.steps[peak : peak + width]
        yield Sign(None, steps.tolist(), {"what": what, "now": float(means[-1]), "lost": 100 * lost})
