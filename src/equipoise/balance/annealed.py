"""A weight that fades: strong alignment at first, the local task at the end.

    network   L_b + λ₀·s(p)·L_a
    λ         λ₀

Status: works; as good as V4 and V9 in our study. You choose λ₀.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.constant import ConstantOptions
from equipoise.balance.policy import Balance, aligned, no_parameters
from equipoise.balance.schedule import schedule
from equipoise.config.choices import Schedule
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment, State, Weighed


class AnnealedOptions(ConstantOptions):
    name: str = "annealed"
    schedule: Schedule = Field("linear", description="s(p)")


@BALANCES.register("annealed", aliases=("v7",), options=AnnealedOptions)
def annealed(options: AnnealedOptions) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        s = schedule(options.schedule, moment.progress)
        used = options.lam * s
        return Weighed(losses.base + used * aligned(losses), None, lam=options.lam, schedule=s, used=used)

    return Balance(no_parameters, weigh)
