"""A weight for each client, by the entropy of its labels.

    network   L_b + λ_k·s(p)·L_a
    λ         λ_k = λmin + (λmax − λmin)·H₂(client's labels) / log₂ C

Status: works; clients with few classes are aligned less. Our study cannot tell it from `none` and `constant`.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import Field, model_validator

from equipoise.balance.policy import Balance, aligned, in_order, no_parameters
from equipoise.balance.schedule import schedule
from equipoise.config.blocks import BalanceOptions
from equipoise.config.choices import Schedule
from equipoise.core.registry import BALANCES
from equipoise.core.values import Labels, Losses, Moment, State, Weighed


class EntropyOptions(BalanceOptions):
    name: str = "entropy"
    lam_min: float = Field(0.1, ge=0, description="λmin, for a client with one class")
    lam_max: float | None = Field(
        None, gt=0, description="λmax, for an even mix; by default 10, or 20 from 100 classes on"
    )
    schedule: Schedule = Field("none", description="s(p)")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        return in_order(self, self.lam_min, 20.0 if self.lam_max is None else self.lam_max)


@BALANCES.register("entropy", aliases=("v9",), options=EntropyOptions)
def entropy(options: EntropyOptions) -> Balance:
    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        lam = entropy_lam(moment.counts, options.lam_min, options.lam_max)
        s = schedule(options.schedule, moment.progress)
        return Weighed(losses.base + lam * s * aligned(losses), None, lam=lam, schedule=s, used=lam * s)

    return Balance(no_parameters, weigh)


def entropy_lam(counts: Labels, lam_min: float = 0.1, lam_max: float | None = None) -> float:
    """λ_k; C counts all classes of the data set, including those that the client does not own."""
    n_classes = len(counts)
    high = lam_max if lam_max is not None else (20.0 if n_classes >= 100 else 10.0)
    return lam_min + (high - lam_min) * normalised_entropy(counts)


def normalised_entropy(counts: Labels) -> float:
    """H₂ / log₂ C ∈ [0, 1]."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum() / np.log2(len(counts))) if len(counts) > 1 else 0.0
