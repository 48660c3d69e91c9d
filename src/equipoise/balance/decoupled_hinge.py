"""Decoupled variances with the schedule on the log term and a hinge above λmax.

    network   L_b + sg(λ)·L_a
    policy    sg(L_b)/2σ²_b + sg(L_a)/2σ²_a + ½a + ½s·b + γ·relu(λ − λmax)²
    λ*        s·L_b / L_a, below the cap λmax/2 + √(λmax²/4 + s/4γ)

Status: works where γ is large enough for the cap to bind: λ reached 52 at a cap of 55 in our study. With λmax 50 and
γ 1e-5 the cap is 185.
Source: AURORA.
"""

from __future__ import annotations

from math import sqrt

from pydantic import Field

from equipoise.balance.decoupled import DecoupledOptions
from equipoise.balance.learned import Version, learned
from equipoise.balance.policy import Balance, Cap
from equipoise.config.choices import Schedule
from equipoise.core.registry import BALANCES


class DecoupledHingeOptions(DecoupledOptions):
    name: str = "decoupled-hinge"
    schedule: Schedule = Field("cosine", description="s(p), on the log term")
    lam_max: float = Field(50.0, gt=0, description="λmax, where the hinge begins")
    gamma: float = Field(1e-3, gt=0, description="γ, the weight of the hinge")


@BALANCES.register("decoupled-hinge", aliases=("v14", "aurora"), options=DecoupledHingeOptions)
def decoupled_hinge(options: DecoupledHingeOptions) -> Balance:
    top, gamma = options.lam_max, options.gamma
    version = Version(
        scheduled=frozenset({"log"}),
        penalty=lambda lam, sigma2: gamma * (lam - top).relu().square(),
        cap=lambda base, align: Cap(
            f"λ ≤ λmax/2 + √(λmax²/4 + s/4γ) = {hinge_cap(top, gamma):.4g} at s = 1", hinge_cap(top, gamma)
        ),
        trigger=lambda lam: lam > top,
    )
    return learned(options, version)


def hinge_cap(lam_max: float, gamma: float, s: float = 1.0) -> float:
    """The cap: where hinge and log term balance as L_a → 0, 2γλ(λ − λmax) = s/2."""
    return lam_max / 2 + sqrt(lam_max**2 / 4 + s / (4 * gamma))
