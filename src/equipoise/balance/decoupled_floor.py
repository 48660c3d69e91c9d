"""Decoupled variances with a floor under σ²_a.

    network   L_b + s·sg(λ)·L_a
    policy    sg(L_b)/2σ²_b + sg(L_a)/2σ²_a + ½(a + b) + γ/σ²_a
    λ*        L_b / (L_a + 2γ) ≤ L_b / 2γ

Status: fails. λ is bounded, but for the usual γ the bound is in the thousands: see the cap printed at the start. In our
study λ reached it, the merged accuracy fell as under V12, and with the default rate σ lagged behind its fixed point.
Source: the third original report.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.decoupled import DecoupledOptions
from equipoise.balance.learned import Version, learned
from equipoise.balance.policy import Balance, Cap
from equipoise.core.registry import BALANCES


class DecoupledFloorOptions(DecoupledOptions):
    name: str = "decoupled-floor"
    gamma: float = Field(1e-3, gt=0, description="γ, the weight of 1/σ²_a")


@BALANCES.register("decoupled-floor", aliases=("v13",), options=DecoupledFloorOptions)
def decoupled_floor(options: DecoupledFloorOptions) -> Balance:
    gamma = options.gamma
    version = Version(
        scheduled=frozenset({"weight"}),
        penalty=lambda lam, sigma2: gamma / sigma2,
        cap=lambda base, align: floor_cap(base, gamma),
    )
    return learned(options, version)


def floor_cap(base: float, gamma: float) -> Cap:
    """The bound L_b/2γ at the first batch."""
    value = base / (2 * gamma)
    return Cap(f"λ ≤ L_b/2γ = {base:.4g}/{2 * gamma:.4g} = {value:.4g}", value)
