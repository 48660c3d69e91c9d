"""FedAvgM: FedAvg with momentum on the server.

base = cls        align = 0        λ = 0        merge: m ← β·m + Δ, w ← w + η·m        predict = the merged model
"""

from __future__ import annotations

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method


class FedavgmOptions(MethodOptions):
    name: str = "fedavgm"
    lr: float = Field(1.0, gt=0, description="η, the server's learning rate")
    beta: float = Field(0.9, ge=0, lt=1, description="β, the server's momentum")


@METHODS.register("fedavgm", options=FedavgmOptions, traits=(ANY_DATA, OWN_MERGE))
def fedavgm(options: FedavgmOptions) -> Method:
    from equipoise.server.optimise import momentum

    return Method(merge=momentum(options.lr, options.beta))
