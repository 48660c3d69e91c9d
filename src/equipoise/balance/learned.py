"""Common parts of the policies that learn λ from two variances.

    a = log σ²_b      b = log σ²_a      λ = e^{a−b}
    network   k·(L_b + λ·s_w·L_a)                                      k = 1, or 1/2σ²_b where the loss is coupled
    policy    f·(L_b/2σ²_b + s_d·L_a/2σ²_a + ½a + ½·s_l·b) + penalty   losses detached

A version chooses where the schedule acts (weight w, data d, log l), which penalty is added, and whether the network's
loss is coupled. For plain gradient descent on frozen losses and the penalty γ/σ²_a the fixed point is

    λ* = s_l·L_b / (s_d·L_a + 2γ)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from equipoise.balance.entropy import entropy_lam
from equipoise.balance.policy import Balance, Bound, Cap, Clip, Learning, aligned
from equipoise.balance.schedule import schedule
from equipoise.config.blocks import BalanceOptions
from equipoise.config.choices import Schedule
from equipoise.core.numbers import precise, times
from equipoise.core.options import Options
from equipoise.core.values import Labels, Losses, Moment, State, Weighed

if TYPE_CHECKING:
    from torch import Tensor

Place = Literal["weight", "data", "log"]
Start = tuple[float, float] | Literal["entropy"]
Penalty = Callable[["Tensor", "Tensor"], "Tensor"]
"""(λ, σ²_a) → the penalty that is added to the policy's loss."""


class SigmaOptions(Options):
    """How the policy's parameters a and b learn."""

    lr: float = Field(0.005, gt=0, description="learning rate of a and b")
    momentum: float = Field(0.9, ge=0, lt=1, description="momentum of a and b")
    clip: Clip = Field(
        "none",
        description="clip their gradient: none, separate (to norm 1), or joint (together with the network's gradient)",
    )
    start: Start = Field((0.0, 0.0), description="(a, b) at the start, or entropy: (log λ of the entropy policy, 0)")


class LearnedOptions(BalanceOptions):
    schedule: Schedule = Field("linear", description="s(p)")
    ceiling: float | None = Field(None, gt=0, description="upper bound of λ; set by a guard that repairs a run")
    sigma: SigmaOptions = Field(SigmaOptions(), description="how a and b learn")


@dataclass(frozen=True)
class Version:
    """The choices in which learned policies differ."""

    scheduled: frozenset[Place] = frozenset()
    is_coupled: bool = False
    penalty: Penalty | None = None
    cap: Bound | None = None
    """None: nothing bounds λ."""
    trigger: Callable[[Tensor], Tensor] | None = None
    """Whether the penalty acts at that λ."""
    rescaled: bool = False
    """Whether the policy's loss is multiplied by the detached 2σ²_b."""


def learned(options: LearnedOptions, version: Version) -> Balance:
    """The policy of a version."""

    def weigh(losses: Losses, policy: State, moment: Moment) -> Weighed:
        a, b = policy["a"], policy["b"]
        s = schedule(options.schedule, moment.progress)
        on = {place: s if place in version.scheduled else 1.0 for place in ("weight", "data", "log")}
        lam = precise((a - b).detach().exp()).clamp_max(options.ceiling or inf)
        scale = 0.5 * precise((-a).detach().exp()) if version.is_coupled else 1.0
        used = lam * on["weight"]
        seen = {"sigma2/base": precise(a.detach().exp()), "sigma2/align": precise(b.detach().exp())}
        if version.trigger is not None:
            seen["lam/trigger_rate"] = precise(version.trigger(lam))
        return Weighed(
            network=times(scale, losses.base + times(used, aligned(losses))),
            policy=_policy_loss(losses, a, b, on, version),
            lam=lam,
            schedule=s,
            used=used,
            scale=scale,
            seen=seen,
        )

    sigma = options.sigma
    learning = Learning(sigma.lr, sigma.momentum, sigma.clip)
    return Balance(lambda counts: _start(sigma, counts), weigh, learning, version.cap or unbounded)


def unbounded(base: float, align: float) -> Cap:
    """The message for a policy without a cap."""
    now = f"{base:.4g}/{align:.4g} = {base / align:.4g}" if align > 0 else f"{base:.4g}/0"
    return Cap(f"no cap: λ* = L_b/L_a = {now} at the first batch, and grows without bound as L_a falls", None)


def _policy_loss(losses: Losses, a: Tensor, b: Tensor, on: dict[str, float], version: Version) -> Tensor:
    base, align = losses.base.detach(), aligned(losses).detach()
    loss = 0.5 * (base * (-a).exp() + on["data"] * align * (-b).exp() + a + on["log"] * b)
    if version.rescaled:
        loss = loss * 2 * a.detach().exp()
    return loss if version.penalty is None else loss + version.penalty((a - b).exp(), b.exp())


def _start(sigma: SigmaOptions, counts: Labels) -> State:
    import torch

    if sigma.start == "entropy":
        start = (torch.tensor(entropy_lam(counts)).log(), torch.tensor(0.0))
    else:
        start = (torch.tensor(sigma.start[0]), torch.tensor(sigma.start[1]))
    return {"a": start[0], "b": start[1]}
