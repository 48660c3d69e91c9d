"""SCAFFOLD: every client corrects its drift by the difference between its own and the average gradient.

base = cls        align = Σ ⟨c − c_k, w⟩        λ = 1        keep c_k ← c_k + Δc_k        report Δc_k
Δc_k = (w_t − w_k)/a_k − c, a_k = steps·lr (with momentum as in FedNova)        merge: w ← w + η·(mean_k w_k − w),
c ← c + Σ_k Δc_k / N, clients with equal weight        predict = the merged model
Source: Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging", 2020, algorithm 1 with option II.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.balance.constant import ConstantOptions, constant
from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import NEEDS_ROUNDS, NEEDS_SGD, OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method
from equipoise.method.beside import zeros

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.core.values import State


class ScaffoldOptions(MethodOptions):
    name: str = "scaffold"
    lr: float = Field(1.0, gt=0, description="η, the server's learning rate")


@METHODS.register("scaffold", options=ScaffoldOptions, traits=(NEEDS_ROUNDS, NEEDS_SGD, OWN_MERGE))
def scaffold(options: ScaffoldOptions) -> Method:
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective
    from equipoise.objective.drift import OWN_CONTROL, control
    from equipoise.server.control import change, controlled

    def keep(done: Finished) -> State:
        return {OWN_CONTROL + name: done.memory[OWN_CONTROL + name] + moved for name, moved in change(done).items()}

    return Method(
        objective=objective({"cls": cross_entropy}, align=control),
        balance=constant(ConstantOptions(lam=1.0)),
        merge=controlled(options.lr),
        exchange=Exchange(begin=zeros(OWN_CONTROL), keep=keep, report=change),
        stacks=True,
    )
