"""MOON: features are pulled towards those of the server's model, away from those of the client's last model.

base = cls        align = mean_i −log( e^{s_i/τ} / (e^{s_i/τ} + e^{p_i/τ}) )        λ = the balance block
s = cos(z, z of the server's model)        p = cos(z, z of the client's last model)        keep the client's last model
merge = mean by samples        predict = the merged model
Source: Li et al., "Model-Contrastive Federated Learning", 2021; z is the head's input; there is no projection head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import NEEDS_ROUNDS, OPEN_LAMBDA
from equipoise.core.registry import METHODS
from equipoise.method.answers import BY_CONFIGURATION, Exchange, Method

if TYPE_CHECKING:
    from equipoise.core.values import State


class MoonOptions(MethodOptions):
    name: str = "moon"
    tau: float = Field(0.5, gt=0, description="τ of the contrast between models")


@METHODS.register("moon", options=MoonOptions, traits=(NEEDS_ROUNDS, OPEN_LAMBDA))
def moon(options: MoonOptions) -> Method:
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective
    from equipoise.objective.model_contrast import PREVIOUS, model_contrast

    def previous(model: State) -> State:
        return {PREVIOUS + name: tensor for name, tensor in model.items()}

    return Method(
        objective=objective({"cls": cross_entropy}, align=model_contrast(options.tau)),
        balance=BY_CONFIGURATION,
        exchange=Exchange(begin=previous, keep=lambda done: previous(done.model)),
        stacks=True,
    )
