"""FedRep: a common encoder and personal heads. Every round trains the head first, then the encoder.

base = cls        align = 0        λ = 0        merge = mean by samples, of the encoder
predict = none: every client's own model is the result
Source: Collins et al., "Exploiting Shared Representations for Personalized Federated Learning", 2021, algorithm 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.client.groups import Phase
from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import MERGES_NOTHING, NEEDS_ROUNDS
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from torch import nn


class FedrepOptions(MethodOptions):
    name: str = "fedrep"
    head_epochs: int = Field(
        1, ge=1, description="first epochs of a round, which train the head; the rest train the encoder"
    )


@METHODS.register("fedrep", options=FedrepOptions, traits=(MERGES_NOTHING, NEEDS_ROUNDS))
def fedrep(options: FedrepOptions) -> Method:
    return Method(
        predict=None,
        exchange=Exchange(personal=head),
        phases=(Phase(("head",), options.head_epochs), Phase(("encoder",))),
    )


def head(model: nn.Module) -> list[str]:
    return [name for name in model.state_dict() if name.startswith("head.")]
