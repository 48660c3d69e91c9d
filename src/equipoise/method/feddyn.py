"""FedDyn: every client's loss gets a dynamic regulariser that moves the clients' optima to the common one.

base = cls        align = (α/2)·‖w − w_t‖² − ⟨h_k, w⟩        λ = 1        keep h_k ← h_k − α·(w_k − w_t)
merge: h ← h − (α/N)·Σ_k (w_k − w), w ← mean_k w_k − h/α, clients with equal weight        predict = the merged model
Source: Acar et al., "Federated Learning Based on Dynamic Regularization", 2021, algorithm 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.balance.constant import ConstantOptions, constant
from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import NEEDS_ROUNDS, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method
from equipoise.method.beside import zeros

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.core.values import State


class FeddynOptions(MethodOptions):
    name: str = "feddyn"
    alpha: float = Field(0.1, gt=0, description="α, how strongly clients are pulled towards what the server sent")


@METHODS.register("feddyn", options=FeddynOptions, traits=(NEEDS_ROUNDS, OWN_MERGE))
def feddyn(options: FeddynOptions) -> Method:
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective
    from equipoise.objective.drift import OWN_GRADIENT, dynamic
    from equipoise.server.dynamic import dynamic_mean

    def keep(done: Finished) -> State:
        names = [name.removeprefix(OWN_GRADIENT) for name in done.memory]
        moved = {name: done.model[name] - done.task.shared[name] for name in names}
        return {OWN_GRADIENT + name: done.memory[OWN_GRADIENT + name] - options.alpha * moved[name] for name in names}

    return Method(
        objective=objective({"cls": cross_entropy}, align=dynamic(options.alpha)),
        balance=constant(ConstantOptions(lam=1.0)),
        merge=dynamic_mean(options.alpha),
        exchange=Exchange(begin=zeros(OWN_GRADIENT), keep=keep),
        stacks=True,
    )
