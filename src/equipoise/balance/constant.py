"""A fixed weight.

    network   L_b + λ₀·L_a
    λ         λ₀

Status: works; as good as V9 in our study. You choose λ₀.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.policy import Balance, aligned, no_parameters
from equipoise.config.blocks import BalanceOptions
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment, State, Weighed


class ConstantOptions(BalanceOptions):
    name: str = "constant"
    lam: float = Field(5.0, ge=0, description="λ₀")


@BALANCES.register("constant", aliases=("v7-fixed",), options=ConstantOptions)
def constant(options: ConstantOptions) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        return Weighed(losses.base + options.lam * aligned(losses), None, lam=options.lam, used=options.lam)

    return Balance(no_parameters, weigh)
