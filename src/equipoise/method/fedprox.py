"""FedProx: FedAvg with a proximal term that keeps clients near what the server sent.

base = cls        align = ½‖w − w_t‖²        λ = μ        merge = mean by samples        predict = the merged model
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.constant import ConstantOptions, constant
from equipoise.config.blocks import MethodOptions
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method


class FedproxOptions(MethodOptions):
    name: str = "fedprox"
    mu: float = Field(0.01, ge=0, description="μ, the weight of the proximal term")


@METHODS.register("fedprox", options=FedproxOptions)
def fedprox(options: FedproxOptions) -> Method:
    from equipoise.objective.align import proximal
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective

    return Method(
        objective=objective({"cls": cross_entropy}, align=proximal),
        balance=constant(ConstantOptions(lam=options.mu)),
        stacks=True,
    )
