"""A weight that grows as the client learns its local task.

    network   L_b + w·L_a        base = cls + pf + pp, align = con with public negatives
    λ         w = w₀ + (w₁ − w₀)·clip(1 − EMA(L_b) / L_b at the start, 0, 1)

Status: works; plan 2 of the fourth original report.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.curriculum import CurriculumOptions
from equipoise.balance.policy import Balance, aligned
from equipoise.core.numbers import precise, times
from equipoise.core.registry import BALANCES
from equipoise.core.values import Labels, Losses, Moment, State, Weighed


class AdaptiveOptions(CurriculumOptions):
    name: str = "adaptive"
    memory: float = Field(0.9, ge=0, lt=1, description="share of the past in the running mean of L_b")


@BALANCES.register("adaptive", options=AdaptiveOptions)
def adaptive(options: AdaptiveOptions) -> Balance:
    def start(counts: Labels) -> State:
        import torch

        return {"first": torch.tensor(0.0), "mean": torch.tensor(0.0)}

    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        base, is_new = losses.base.detach(), policy["first"] == 0
        first = base.where(is_new, policy["first"])
        mean = base.where(is_new, options.memory * policy["mean"] + (1 - options.memory) * base)
        learned = precise((1 - mean / first).clamp(0, 1))
        lam = options.first + (options.last - options.first) * learned
        network = losses.base + times(lam, aligned(losses))
        return Weighed(network, None, lam=lam, used=lam, remembered={"first": first, "mean": mean})

    return Balance(start, weigh)
