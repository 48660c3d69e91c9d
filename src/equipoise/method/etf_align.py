"""FAFI with prototypes aligned to shared anchors, a simplex (etf-align) or random (drcl), under any λ policy.

base = cls + con + pf + pp        align = mean_c ‖p_c − a_c‖²/D        λ = the balance block
merge = mean by samples, prototypes plain, unit or by counts        predict = feature-average
"""

from __future__ import annotations

from pydantic import Field

from equipoise.core.registry import METHODS
from equipoise.method.answers import Method
from equipoise.method.prototype import PrototypeOptions, four_terms, prototype_head
from equipoise.objective.align import Classes, Target, to_anchors
from equipoise.objective.anchors import Anchors
from equipoise.objective.compose import objective


class EtfAlignOptions(PrototypeOptions):
    name: str = "etf-align"
    classes: Classes = Field("all", description="prototypes of all classes are aligned, or of those the client owns")
    target: Target = Field("anchors", description="the anchors, or a path from the start to them (V8)")


class DrclOptions(EtfAlignOptions):
    name: str = "drcl"
    anchors: Anchors = Field("random", description="what prototypes are aligned to")


@METHODS.register("drcl", options=DrclOptions)
@METHODS.register("etf-align", options=EtfAlignOptions)
def etf_align(options: EtfAlignOptions) -> Method:
    return Method(
        objective=objective(four_terms(options), align=to_anchors(options.classes, options.target)),
        balance=None,
        merge=None,
        predict="feature-average",
        head=prototype_head(options),
        stacks=True,
    )
