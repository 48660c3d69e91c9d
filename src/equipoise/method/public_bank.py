"""FAFI with public features as extra negatives: a teacher is trained on the server's pool, its features go down once.

two-stage     base = con alone in the first epochs of every cycle, then cls + con + pf + pp        λ = 0
public-bank   base = cls + pf + pp        align = con        λ = the balance block (curriculum, adaptive, constant)
merge = mean by samples, prototypes as server.merge says        predict = feature-average
Source: V6 of the fourth original report, and its two plans.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.config.traits import OPEN_LAMBDA, PROTOTYPES, PUBLIC_POOL
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Method, Teacher
from equipoise.method.prototype import PrototypeOptions, four_terms, prototype_head

PUBLIC = "public"


class PublicBankOptions(PrototypeOptions):
    name: str = "public-bank"
    tau: float = Field(0.5, gt=0, description="τ of the supervised contrast")
    teacher_epochs: int = Field(20, ge=1, description="epochs of the server's teacher on the public pool")
    features: int = Field(4096, ge=1, description="public features that are sent, at most one per sample of the pool")


class TwoStageOptions(PublicBankOptions):
    name: str = "two-stage"
    cycle: int = Field(5, ge=1, description="epochs of a cycle")
    first: int = Field(1, ge=0, description="epochs at the start of a cycle with the contrast alone")


@METHODS.register("two-stage", options=TwoStageOptions, traits=(PROTOTYPES, PUBLIC_POOL))
def two_stage(options: TwoStageOptions) -> Method:
    from equipoise.objective.compose import objective, staged

    terms = four_terms(options, PUBLIC)
    alone, together = objective({"con": terms["con"]}), objective(terms)
    return Method(
        objective=staged(alone, together, options.cycle, options.first),
        merge=BY_CONFIGURATION,
        predict="feature-average",
        head=prototype_head(options),
        teacher=_teacher(options),
    )


@METHODS.register("public-bank", options=PublicBankOptions, traits=(OPEN_LAMBDA, PROTOTYPES, PUBLIC_POOL))
def public_bank(options: PublicBankOptions) -> Method:
    from equipoise.objective.compose import objective
    from equipoise.objective.contrast import contrast

    terms = four_terms(options)
    del terms["con"]
    return Method(
        objective=objective(terms, align=contrast(options.tau, PUBLIC)),
        balance=BY_CONFIGURATION,
        merge=BY_CONFIGURATION,
        predict="feature-average",
        head=prototype_head(options),
        teacher=_teacher(options),
    )


def _teacher(options: PublicBankOptions) -> Teacher:
    from equipoise.objective.compose import objective

    return Teacher(objective(four_terms(options)), options.teacher_epochs, options.features, PUBLIC)
