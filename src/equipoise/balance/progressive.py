"""A fading weight, while the target moves from the initial prototypes to the anchors (method.target=progressive).

    network   L_b + λ₀·s(p)·L_a        L_a towards (1 − p)·P_start + p·A
    λ         λ₀

Status: works; the weight is that of `annealed`, and the objective moves the target. The preset `v8` has both.
"""

from __future__ import annotations

from equipoise.balance.annealed import AnnealedOptions, annealed
from equipoise.balance.policy import Balance
from equipoise.core.registry import BALANCES


class ProgressiveOptions(AnnealedOptions):
    name: str = "progressive"


@BALANCES.register("progressive", aliases=("v8",), options=ProgressiveOptions)
def progressive(options: ProgressiveOptions) -> Balance:
    made: Balance = annealed(options)
    return made
