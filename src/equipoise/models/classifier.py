"""A classifier: an encoder and a linear head. It contains nothing federated.

features = encoder(x) ∈ R^D        logits = head(features) ∈ R^C
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from equipoise.config.choices import Norm


class ModelOutput(NamedTuple):
    """The output of a network for a batch: features [B, D] and logits [B, C]."""

    features: Tensor
    logits: Tensor


class Classifier(nn.Module):
    """`groups` names the sets of parameters that can be merged, frozen or staged together."""

    def __init__(self, encoder: nn.Module, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.n_features = n_features
        self.head: nn.Module = nn.Linear(n_features, n_classes)

    def forward(self, images: Tensor) -> ModelOutput:
        features = self.encoder(images)
        return ModelOutput(features, self.head(features))

    @property
    def groups(self) -> dict[str, list[str]]:
        names = [name for name, _ in self.named_parameters()]
        return {group: [name for name in names if name.startswith(f"{group}.")] for group in ("encoder", "head")}


def normaliser(kind: Norm, channels: int) -> nn.Module:
    """BatchNorm, GroupNorm with the fewest equal groups of at most 16 channels, or no normalisation."""
    if kind == "batch":
        return nn.BatchNorm2d(channels)
    if kind == "group":
        groups = next(g for g in range(1, channels + 1) if channels % g == 0 and channels // g <= 16)
        return nn.GroupNorm(groups, channels)
    return nn.Identity()
