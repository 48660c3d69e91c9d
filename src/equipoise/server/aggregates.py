"""How clients' models are merged: `server.aggregate=NAME`, with any method whose own merge is the plain mean.

mean       w ← Σ_k (n_k / n)·w_k
momentum   m ← β·m + Δ, w ← w + η·m
adam       m ← β₁·m + (1−β₁)·Δ, v ← β₂·v + (1−β₂)·Δ², w ← w + η·m/(√v + τ)
yogi       as adam, with v ← v − (1−β₂)·Δ²·sign(v − Δ²)

Δ is the mean of the clients minus w, as in `server/optimise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.blocks import AggregateOptions
from equipoise.core.registry import AGGREGATES

if TYPE_CHECKING:
    from equipoise.server.merge import Merge


class MomentumOptions(AggregateOptions):
    name: str = "momentum"
    lr: float = Field(1.0, gt=0, description="η, the server's learning rate")
    beta: float = Field(0.9, ge=0, lt=1, description="β, the server's momentum")


class AdamOptions(AggregateOptions):
    name: str = "adam"
    lr: float = Field(0.01, gt=0, description="η, the server's learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="β₁")
    beta2: float = Field(0.99, ge=0, lt=1, description="β₂")
    tau: float = Field(1e-3, gt=0, description="τ, how adaptive the step may become")


class YogiOptions(AdamOptions):
    name: str = "yogi"


@AGGREGATES.register("mean")
def plain(options: AggregateOptions) -> Merge:
    from equipoise.server.mean import mean

    return mean


@AGGREGATES.register("momentum", options=MomentumOptions)
def momentum(options: MomentumOptions) -> Merge:
    from equipoise.server.optimise import momentum as merge

    return merge(options.lr, options.beta)


@AGGREGATES.register("adam", options=AdamOptions)
def adam(options: AdamOptions) -> Merge:
    from equipoise.server.optimise import adam as merge

    return merge(options.lr, options.beta1, options.beta2, options.tau)


@AGGREGATES.register("yogi", options=YogiOptions)
def yogi(options: YogiOptions) -> Merge:
    from equipoise.server.optimise import yogi as merge

    return merge(options.lr, options.beta1, options.beta2, options.tau)
