"""FedETF: all clients share a fixed simplex as the classifier and train only encoders.

base = balanced cls of logits κ·z·Aᵀ        align = 0        λ = 0        merge = mean by samples
predict = the merged model
Source: Li et al., "No Fear of Classifier Biases: Neural Collapse Inspired Federated Learning", 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method

if TYPE_CHECKING:
    from torch import nn


class FedetfOptions(MethodOptions):
    name: str = "fedetf"
    kappa: float = Field(16.0, gt=0, description="κ, the scale of the logits")
    gamma: float = Field(1.0, ge=0, description="γ, how much a client's class counts shift its logits")


@METHODS.register("fedetf", options=FedetfOptions)
def fedetf(options: FedetfOptions) -> Method:
    from equipoise.models.heads import AnchorHead
    from equipoise.objective.anchors import anchors
    from equipoise.objective.classify import balanced_cross_entropy
    from equipoise.objective.compose import objective

    def head(n_features: int, n_classes: int, seed: int) -> nn.Module:
        return AnchorHead(anchors("etf", n_classes, n_features, seed), options.kappa)

    return Method(objective=objective({"cls": balanced_cross_entropy(options.gamma)}), head=head, stacks=True)
