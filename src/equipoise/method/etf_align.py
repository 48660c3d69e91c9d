"""FAFI with prototypes aligned to shared anchors, a simplex (etf-align) or random (drcl), under any λ policy.

base = cls + con + pf + pp        align = mean_c ‖p_c − a_c‖²/D        λ = the balance block
merge = mean by samples, prototypes plain, unit or by counts        predict = feature-average
"""

from __future__ import annotations

from pydantic import Field

from equipoise.config.choices import Aligned, Anchors, Target
from equipoise.config.traits import OPEN_LAMBDA, PROTOTYPES
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Method
from equipoise.method.prototype import PrototypeOptions, four_terms, prototype_head


class EtfAlignOptions(PrototypeOptions):
    name: str = "etf-align"
    classes: Aligned = Field("all", description="prototypes of all classes are aligned, or of those the client owns")
    target: Target = Field("anchors", description="the anchors, or a path from the start to them (V8)")


class DrclOptions(EtfAlignOptions):
    name: str = "drcl"
    anchors: Anchors = Field("random", description="what prototypes are aligned to")


@METHODS.register("drcl", options=DrclOptions, traits=(OPEN_LAMBDA, PROTOTYPES))
@METHODS.register("etf-align", options=EtfAlignOptions, traits=(OPEN_LAMBDA, PROTOTYPES))
def etf_align(options: EtfAlignOptions) -> Method:
    from equipoise.objective.align import to_anchors
    from equipoise.objective.compose import objective

    return Method(
        objective=objective(four_terms(options), align=to_anchors(options.classes, options.target)),
        balance=BY_CONFIGURATION,
        merge=BY_CONFIGURATION,
        predict="feature-average",
        head=prototype_head(options),
        stacks=True,
    )
