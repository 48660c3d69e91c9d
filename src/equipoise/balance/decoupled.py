"""Learned variances that see detached losses; the network sees the annealed λ only.

    network   L_b + s·sg(λ)·L_a
    policy    sg(L_b)/2σ²_b + sg(L_a)/2σ²_a + ½(a + b)
    λ*        L_b / L_a → ∞ as L_a → 0

Status: fails. Alignment that succeeds makes λ run away, to between 9.6·10⁵ and 3.2·10⁶ in our study; clients and probe
do not notice, but while some clients have run away and others have not, the plain mean of their prototypes breaks.
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
