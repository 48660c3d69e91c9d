"""FedProto: clients keep their models and share class means of their features.

base = cls        align = mean_i ‖f_i − m_{y_i}‖²/D        λ = lam        merge: m_c = Σ_k n_kc·m_kc / Σ_k n_kc
predict = nearest-mean, on the mean of all encoders' features; encoders go up once, at the end
Source: Tan et al., "FedProto", 2022. With one-shot communication no mean goes down: align is zero.
"""

from __future__ import annotations

from pydantic import Field

from equipoise.balance.constant import ConstantOptions, constant
from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import MEANS
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method


class FedprotoOptions(MethodOptions):
    name: str = "fedproto"
    lam: float = Field(1.0, ge=0, description="λ, the weight of the distance to the class means")


@METHODS.register("fedproto", options=FedprotoOptions, traits=(MEANS,))
def fedproto(options: FedprotoOptions) -> Method:
    from equipoise.objective.align import to_means
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.compose import objective
    from equipoise.server.means import class_sums, merge_means

    return Method(
        objective=objective({"cls": cross_entropy}, align=to_means),
        balance=constant(ConstantOptions(lam=options.lam)),
        merge=merge_means,
        predict="nearest-mean",
        exchange=Exchange(down=False, report=lambda done: class_sums(done.own())),
        stacks=True,
    )
