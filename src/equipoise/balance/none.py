"""No alignment: the network is trained on the local task alone.

    network   L_b
    λ         0

Status: works; FAFI as published.
"""

from __future__ import annotations

from equipoise.balance.policy import Balance, no_parameters
from equipoise.config.blocks import BalanceOptions
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment, State, Weighed


@BALANCES.register("none", aliases=("v4",), options=BalanceOptions)
def none(options: BalanceOptions | None = None) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        return Weighed(losses.base, None, lam=0.0)

    return Balance(no_parameters, weigh, is_idle=True)
