"""Decoupled variances with the schedule on the data term: the variant behind the third report's table.

    network   L_b + sg(λ)·L_a
    policy    sg(L_b)/2σ²_b + s·sg(L_a)/2σ²_a + ½(a + b)
    λ*        L_b / (s·L_a)

Status: fails, and sooner than `decoupled`: the fading schedule makes λ grow too, past 10⁸ in our study.
Source: the third original report, whose "truly effective λ" (λ·s) was printed but never used.
"""

from __future__ import annotations

from equipoise.balance.decoupled import DecoupledOptions
from equipoise.balance.learned import Version, learned
from equipoise.balance.policy import Balance
from equipoise.core.registry import BALANCES


class DecoupledDataAnnealedOptions(DecoupledOptions):
    name: str = "decoupled-data-annealed"


@BALANCES.register("decoupled-data-annealed", aliases=("v12-svhn",), options=DecoupledDataAnnealedOptions)
def decoupled_data_annealed(options: DecoupledDataAnnealedOptions) -> Balance:
    return learned(options, Version(scheduled=frozenset({"data"})))
