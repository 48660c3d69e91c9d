"""FedDMMR: a sequential recommender with experts that read image and text features of remembered items.

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
    """The server's optimiser step on the mean of the clients."""

    optimiser: Literal["none", "momentum", "adam"] = Field("adam", description="the server's optimiser")
    lr: float = Field(0.015, gt=0, description="η, the server's learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="β₁, or the momentum")
    beta2: float = Field(0.98, ge=0, lt=1, description="β₂ of Adam")
    tau: float = Field(1e-6, gt=0, description="τ of Adam, how adaptive the step may become")
    schedule: Schedule = Field("cosine", description="s(p) over the whole run, which multiplies η")


class FeddmmrOptions(MethodOptions):
    name: str = "feddmmr"
    loss: LossKind = Field("unmet", description="loss over items not met before, the whole catalogue, or sampled items")
    negatives: int = Field(200, ge=1, description="number of items a sampled loss draws from those the user never met")
    tau: float = Field(0.07, gt=0, description="τ of the contrast, the same for every sample")
    alpha: float = Field(0.5, ge=0, description="α, the strength of weighting by surprise")
    weighting: Weighting = Field("instance", description="how surprise acts: per sample, not at all, or two failures")
    load: float = Field(0.01, ge=0, description="w_lb, the weight of the load-balancing loss")
    memory: Literal["dynamic", "recent"] = Field("dynamic", description="whether experts read a memory or recent items")
    store: MemoryOptions = Field(MemoryOptions(), description="settings of the dynamic memory")
    prototypes: int = Field(5, ge=1, description="number of cluster centres of its memory that a client reports")
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
