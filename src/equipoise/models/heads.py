"""Heads with prototypes: one learnable row per class, and the fixed anchors that the rows are aligned to.

dot      logits = z·Pᵀ               z = f/‖f‖, as FAFI was published
cosine   logits = κ·z·p̂ᵀ             p̂ = p/‖p‖, ours
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PROTOTYPES, ANCHORS = "head.prototypes", "head.anchors"
"""Names of the head's two matrices in the state of a model."""


class PrototypeHead(nn.Module):
    """Learnable prototypes; `kappa` None gives dot logits. Anchors are a buffer: sent with the model, never trained."""

    anchors: Tensor

    def __init__(self, prototypes: Tensor, anchors: Tensor, kappa: float | None) -> None:
        super().__init__()
        self.prototypes = nn.Parameter(prototypes.clone())
        self.register_buffer("anchors", anchors.clone())
        self.kappa = kappa

    def forward(self, features: Tensor) -> Tensor:
        z = F.normalize(features, dim=1)
        if self.kappa is None:
            return z @ self.prototypes.T
        return self.kappa * z @ F.normalize(self.prototypes, dim=1).T


class AnchorHead(nn.Module):
    """The anchors as a fixed head: logits = κ·z·Aᵀ."""

    anchors: Tensor

    def __init__(self, anchors: Tensor, kappa: float) -> None:
        super().__init__()
        self.register_buffer("anchors", anchors.clone())
        self.kappa = kappa

    def forward(self, features: Tensor) -> Tensor:
        return self.kappa * F.normalize(features, dim=1) @ self.anchors.T


def gaussian_prototypes(n_classes: int, n_features: int, seed: int) -> Tensor:
    """Rows drawn from N(0, 1), of length about √D: the initial prototypes as published."""
    return torch.randn(n_classes, n_features, generator=torch.Generator().manual_seed(seed))
