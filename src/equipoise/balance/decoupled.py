"""Variances learned from detached losses; the network is trained with the annealed λ only.

    network   L_b + s·sg(λ)·L_a
    policy    sg(L_b)/2σ²_b + sg(L_a)/2σ²_a + ½(a + b)
    λ*        L_b / L_a → ∞ as L_a → 0

Status: fails. Successful alignment makes λ run away, to between 9.6·10⁵ and 3.2·10⁶ in our study. Clients and probe are
not affected. But while λ has run away on some clients and not on others, the plain mean of their prototypes breaks.
Source: the third original report.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.learned import LearnedOptions, SigmaOptions, Start, Version, learned
from equipoise.balance.policy import Balance
from equipoise.core.registry import BALANCES


class DecoupledSigma(SigmaOptions):
    start: Start = Field("entropy", description=SigmaOptions.model_fields["start"].description)


class DecoupledOptions(LearnedOptions):
    name: str = "decoupled"
    sigma: DecoupledSigma = Field(DecoupledSigma(), description="how a and b learn")


@BALANCES.register("decoupled", aliases=("v12",), options=DecoupledOptions)
def decoupled(options: DecoupledOptions) -> Balance:
    return learned(options, Version(scheduled=frozenset({"weight"})))
