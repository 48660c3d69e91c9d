"""The feature space is too small for C equally spaced anchors.

d < C − 1
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.diagnose.finding import Sign
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limits, Rule


@Rule(
    "etf-infeasible",
    severity="error",
    when=("start",),
    reads=("fact:classes", "fact:width", "fact:anchors"),
    says="{classes:.0f} classes in {width:.0f} dimensions, which need {least:.0f}",
    cause="a simplex of C corners needs C − 1 dimensions",
    remedies=(Remedy("widen the features, or project them"),),
)
def etf_infeasible(run: Recording, limit: Limits) -> Iterator[Sign]:
    classes, width = int(run.facts["classes"]), int(run.facts["width"])
    if run.facts["anchors"] == "etf" and width < classes - 1:
        yield Sign(None, [], {"classes": classes, "width": width, "least": classes - 1})
