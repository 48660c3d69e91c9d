"""FedDMMR: a sequential recommender whose experts read what items look like and what is said of them.

base = next item + w_lb·lb        align = contrast between the experts, surprise weighing samples        λ = any policy
merge = mean by samples, then a server optimiser; centres of clients' memories clustered anew        predict = the model
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.choices import LossKind, Schedule, Weighting
from equipoise.config.traits import HISTORIES, OPEN_LAMBDA, OWN_MERGE
from equipoise.core.options import Options
from equipoise.core.registry import METHODS
from equipoise.memory.settings import HistoryNeeds, MemoryOptions
from equipoise.method.answers import BY_CONFIGURATION, Method

if TYPE_CHECKING:
    from equipoise.server.merge import Merge


class ServerStep(Options):
    """What the server does with the mean of the clients."""

    optimiser: Literal["none", "momentum", "adam"] = Field("adam", description="of the server")
    lr: float = Field(0.015, gt=0, description="η, the server's learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="β₁, or the momentum")
    beta2: float = Field(0.98, ge=0, lt=1, description="β₂ of Adam")
    tau: float = Field(1e-6, gt=0, description="τ of Adam, how adaptive the step may become")
    schedule: Schedule = Field("cosine", description="s(p) of the whole run, by which η goes")


class FeddmmrOptions(MethodOptions):
    name: str = "feddmmr"
    loss: LossKind = Field("unmet", description="over items not met before, the whole catalogue, or items drawn")
    negatives: int = Field(200, ge=1, description="how many items a sampled loss draws, of those the user never met")
    tau: float = Field(0.07, gt=0, description="τ of the contrast, the same for every sample")
    alpha: float = Field(0.5, ge=0, description="α, how much surprise weighs")
    weighting: Weighting = Field("instance", description="how surprise acts: per sample, not at all, or two failures")
    load: float = Field(0.01, ge=0, description="w_lb, the weight of balanced use of the experts")
    memory: Literal["dynamic", "recent"] = Field("dynamic", description="what the experts read of the user's past")
    store: MemoryOptions = Field(MemoryOptions(), description="what a dynamic memory writes, keeps and reads")
    prototypes: int = Field(5, ge=1, description="centres of its memory that a client reports")
    common: int = Field(0, ge=0, description="rows of the global memory that every client reads; 0: there is none")
    server: ServerStep = Field(ServerStep(), description="the server's optimiser")


@METHODS.register("feddmmr", options=FeddmmrOptions, traits=(HISTORIES, OPEN_LAMBDA, OWN_MERGE))
def feddmmr(options: FeddmmrOptions) -> Method:
    from equipoise.objective.modalities import ContrastOptions
    from equipoise.objective.recommend import recommend
    from equipoise.server.common_memory import with_common_memory

    merge = server_merge(options.server)
    return Method(
        objective=recommend(ContrastOptions(options.tau, options.alpha, options.weighting), options.load, options.loss),
        balance=BY_CONFIGURATION,
        merge=with_common_memory(merge, options.common) if options.common else merge,
        for_kind=HistoryNeeds(
            memory=options.store if options.memory == "dynamic" else None,
            prototypes=options.prototypes if options.common else 0,
            negatives=options.negatives if options.loss in ("sampled", "bpr") else 0,
        ),
    )


def server_merge(step: ServerStep) -> Merge:
    from equipoise.server.mean import mean
    from equipoise.server.optimise import adam, momentum

    if step.optimiser == "none":
        return mean
    if step.optimiser == "momentum":
        return momentum(step.lr, step.beta1, step.schedule)
    return adam(step.lr, step.beta1, step.beta2, step.tau, step.schedule)
