"""Shared by methods with learned prototypes: settings, head, the four base terms, server.

base = cls + con + pf + pp        logits from prototypes        features averaged against merged prototypes
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.choices import Anchors
from equipoise.core.streams import stream_seed

if TYPE_CHECKING:
    from torch import nn

    from equipoise.models.build import Head
    from equipoise.objective.compose import Term


class PrototypeOptions(MethodOptions):
    logits: Literal["dot", "cosine"] = Field("dot", description="z·Pᵀ as published, or κ·cos(z, p)")
    kappa: float = Field(16.0, gt=0, description="κ, the scale of cosine logits")
    start: Literal["gauss", "anchor"] = Field(
        "gauss", description="prototypes start as N(0, 1) rows, or at the anchors"
    )
    anchors: Anchors = Field("etf", description="what prototypes are aligned to: a simplex, or random directions")
    tau: float = Field(0.07, gt=0, description="τ of the supervised contrast")


def prototype_head(options: PrototypeOptions) -> Head:
    from equipoise.models.heads import PrototypeHead, gaussian_prototypes
    from equipoise.objective.anchors import anchors

    def head(n_features: int, n_classes: int, seed: int) -> nn.Module:
        fixed = anchors(options.anchors, n_classes, n_features, seed)
        gauss = gaussian_prototypes(n_classes, n_features, stream_seed(seed, "prototypes"))
        kappa = options.kappa if options.logits == "cosine" else None
        return PrototypeHead(fixed if options.start == "anchor" else gauss, fixed, kappa)

    return head


def four_terms(options: PrototypeOptions, bank: str | None = None) -> dict[str, Term]:
    """The four terms; `bank` names the source of extra negatives for the contrast."""
    from equipoise.objective.classify import cross_entropy
    from equipoise.objective.contrast import contrast
    from equipoise.objective.prototypes import prototype_feature, prototype_prototype

    kappa = options.kappa if options.logits == "cosine" else None
    return {
        "cls": cross_entropy,
        "con": contrast(options.tau, bank),
        "pf": prototype_feature(),
        "pp": prototype_prototype(kappa=kappa),
    }
