"""FedYogi: FedAvg with Yogi on the server, whose second moment shrinks no faster than it grows.

base = cls        align = 0        λ = 0        merge: v ← v − (1−β₂)·Δ²·sign(v − Δ²), w ← w + η·m/(√v + τ)
predict = the merged model
Source: Reddi et al., "Adaptive Federated Optimization", 2021, algorithm 2.
"""

from __future__ import annotations

from equipoise.config.traits import ANY_DATA, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method
from equipoise.method.fedadam import FedadamOptions


class FedyogiOptions(FedadamOptions):
    name: str = "fedyogi"


@METHODS.register("fedyogi", options=FedyogiOptions, traits=(ANY_DATA, OWN_MERGE))
def fedyogi(options: FedyogiOptions) -> Method:
    from equipoise.server.optimise import yogi

    return Method(merge=yogi(options.lr, options.beta1, options.beta2, options.tau))
