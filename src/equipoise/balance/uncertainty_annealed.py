"""Learned variances with an annealed alignment loss.

    network   L_b + λ·s·L_a
    policy    sg(2σ²_b)·[L_b/2σ²_b + s·L_a/2σ²_a + ½(a + b)]
    λ*        L_b / (s·L_a)

Status: fails. The policy sees the annealed loss and undoes the annealing: λ·s stays constant. In our study λ·s stayed
within 16 % while λ grew 17- to 459-fold.
Source: the second original report.
"""

from __future__ import annotations

from equipoise.balance.learned import LearnedOptions, Version, learned
from equipoise.balance.policy import Balance
from equipoise.core.registry import BALANCES


class UncertaintyAnnealedOptions(LearnedOptions):
    name: str = "uncertainty-annealed"


@BALANCES.register("uncertainty-annealed", aliases=("v11",), options=UncertaintyAnnealedOptions)
def uncertainty_annealed(options: UncertaintyAnnealedOptions) -> Balance:
    return learned(options, Version(scheduled=frozenset({"weight", "data"}), rescaled=True))
