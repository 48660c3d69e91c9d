"""Two task variances, learned together with the network in one loss.

    network   L_b/2σ²_b + L_a/2σ²_a
    policy    L_b/2σ²_b + L_a/2σ²_a + ½(a + b)
    λ*        L_b / L_a

Status: fails. 1/2σ²_b reduces the learning rate of the whole network, to a twelfth in our study. There it ended with
the lowest probe, and with less alignment than `entropy` at half its λ.
Its remedies are settings: sigma.lr (1/100 or 1/1000 of the main one), sigma.clip, sigma.start (−1, 0).
Source: Kendall, Gal and Cipolla, 2018; the first original report.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from equipoise.balance.learned import LearnedOptions, SigmaOptions, Version, learned
from equipoise.balance.policy import Balance, Clip
from equipoise.core.registry import BALANCES


class UncertaintySigma(SigmaOptions):
    lr: float = Field(0.05, gt=0, description="learning rate of a and b")
    clip: Clip = Field("joint", description=SigmaOptions.model_fields["clip"].description)


class UncertaintyOptions(LearnedOptions):
    name: str = "uncertainty"
    schedule: Literal["none"] = Field("none", description="this policy has none")
    sigma: UncertaintySigma = Field(UncertaintySigma(), description="how a and b learn")


@BALANCES.register("uncertainty", aliases=("v10",), options=UncertaintyOptions)
def uncertainty(options: UncertaintyOptions) -> Balance:
    return learned(options, Version(is_coupled=True))
