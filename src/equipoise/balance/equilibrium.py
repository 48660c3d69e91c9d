"""Our policy: the fixed point itself. It learns nothing, needs no tuning and cannot run away.

    network   L_b + λ·L_a
    λ         clip(s·EMA(L_b) / (EMA(L_a) + ε), λmin, λmax)        losses detached

Status: works. λ tracks the value at which the learned policies would settle, always within its bounds. Where prototypes
start at the anchors, L_a is near zero and λ stays at λmax: in our study it then equals `constant` to the last bit.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from equipoise.balance.policy import Balance, aligned, in_order
from equipoise.balance.schedule import schedule
from equipoise.config.blocks import BalanceOptions
from equipoise.config.choices import Schedule
from equipoise.core.numbers import precise, times
from equipoise.core.registry import BALANCES
from equipoise.core.values import Labels, Losses, Moment, State, Weighed


class EquilibriumOptions(BalanceOptions):
    name: str = "equilibrium"
    lam_min: float = Field(0.1, ge=0, description="λmin")
    lam_max: float = Field(50.0, gt=0, description="λmax")
    memory: float = Field(0.9, ge=0, lt=1, description="share of the past in the running means")
    epsilon: float = Field(1e-8, gt=0, description="ε")
    schedule: Schedule = Field("none", description="s(p)")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        return in_order(self, self.lam_min, self.lam_max)


@BALANCES.register("equilibrium", aliases=("ours",), options=EquilibriumOptions)
def equilibrium(options: EquilibriumOptions) -> Balance:
    def start(counts: Labels) -> State:
        import torch

        return {"base": torch.zeros(()), "align": torch.zeros(()), "weight": torch.zeros(())}

    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        new = {"base": losses.base.detach(), "align": aligned(losses).detach(), "weight": policy["weight"].new_ones(())}
        keep = options.memory
        means = {name: keep * policy[name] + (1 - keep) * value for name, value in new.items()}
        s = schedule(options.schedule, moment.progress)
        ratio = s * means["base"] / (means["align"] + options.epsilon * means["weight"])
        lam = precise(ratio).clamp(options.lam_min, options.lam_max)
        return Weighed(
            losses.base + times(lam, aligned(losses)),
            None,
            lam=lam,
            schedule=s,
            used=lam,
            seen={"lam/at_min": precise(lam <= options.lam_min), "lam/at_max": precise(lam >= options.lam_max)},
            remembered=means,
        )

    return Balance(start, weigh)
