"""No alignment: the network sees the local task alone.

network: L_b        λ = 0
"""

from __future__ import annotations

from equipoise.balance.policy import Balance, Moment, no_parameters
from equipoise.core.options import Options
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, State, Weighed


@BALANCES.register("none", aliases=("v4",))
def none(options: Options | None = None) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        return Weighed(losses.base, None, lam=0.0)

    return Balance(no_parameters, weigh)
