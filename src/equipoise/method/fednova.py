"""FedNova: FedAvg with normalised updates, so that clients with more steps do not weigh more.

base = cls        align = 0        λ = 0        report a_k = Σ_j η_j·(1 − ρ^j)/(1 − ρ), η·τ_k without momentum
merge: w ← w + a·Σ_k (n_k/n)·(w_k − w)/a_k, a = Σ_k (n_k/n)·a_k        predict = the merged model
Source: Wang et al., "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization", 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import ANY_DATA, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.core.values import State


@METHODS.register("fednova", options=MethodOptions, traits=(ANY_DATA, OWN_MERGE))
def fednova(options: MethodOptions) -> Method:
    from equipoise.server.normalised import REACH, normalised

    def report(done: Finished) -> State:
        import torch

        return {REACH: torch.tensor(done.reach)}

    return Method(merge=normalised, exchange=Exchange(report=report))
