"""A weight that grows over the run: the local task first, the contrast with public features later.

    network   L_b + w·L_a        base = cls + pf + pp, align = con with public negatives
    λ         w = w₀ + (w₁ − w₀)·p

Status: works; plan 1 of the fourth original report.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.policy import Balance, aligned, no_parameters
from equipoise.config.blocks import BalanceOptions
from equipoise.core.registry import BALANCES
from equipoise.core.values import Losses, Moment, State, Weighed


class CurriculumOptions(BalanceOptions):
    name: str = "curriculum"
    first: float = Field(0.1, ge=0, description="w₀")
    last: float = Field(1.0, ge=0, description="w₁")


@BALANCES.register("curriculum", options=CurriculumOptions)
def curriculum(options: CurriculumOptions) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        lam = options.first + (options.last - options.first) * moment.progress
        return Weighed(losses.base + lam * aligned(losses), None, lam=lam, used=lam)

    return Balance(no_parameters, weigh)
