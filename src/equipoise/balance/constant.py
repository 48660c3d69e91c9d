"""A fixed weight.

network: L_b + λ₀·L_a        λ = λ₀
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.policy import Balance, Moment, no_parameters
from equipoise.core.options import Options
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, State, Weighed


class ConstantOptions(Options):
    lam: float = Field(5.0, ge=0, description="λ₀")


@BALANCES.register("constant", aliases=("v7-fixed",), options=ConstantOptions)
def constant(options: ConstantOptions) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        assert losses.align is not None, "a method with a λ needs an alignment term"
        return Weighed(losses.base + options.lam * losses.align, None, lam=options.lam, used=options.lam)

    return Balance(no_parameters, weigh)
