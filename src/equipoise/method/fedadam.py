"""FedAdam: FedAvg with Adam on the server.

base = cls        align = 0        λ = 0        merge: w ← w + η·m/(√v + τ)        predict = the merged model
"""

from __future__ import annotations

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method


class FedadamOptions(MethodOptions):
    name: str = "fedadam"
    lr: float = Field(0.01, gt=0, description="η, the server's learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="β₁")
    beta2: float = Field(0.99, ge=0, lt=1, description="β₂")
    tau: float = Field(1e-3, gt=0, description="τ, how adaptive the step may become")


@METHODS.register("fedadam", options=FedadamOptions, traits=(ANY_DATA, OWN_MERGE))
def fedadam(options: FedadamOptions) -> Method:
    from equipoise.server.optimise import adam

    return Method(merge=adam(options.lr, options.beta1, options.beta2, options.tau))
