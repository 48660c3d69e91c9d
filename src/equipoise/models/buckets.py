"""A head on bucketed features: a table of class scores for each group of bits, looked up and added.

    bit_jl = [φ_j > t_jl]      t_jl = μ_j + σ_j·Φ⁻¹(l/(L+1)), l = 1 … L       μ_j, σ_j over inputs that are nobody's
    bits in an order that all draw alike, in groups of g      a_G = Σ_i 2^i·bit_{G,i} ∈ {0 … 2^g − 1}
    logits = Σ_G T_G[a_G] + b        = W·e + b,  e the one-hot codes of all a_G side by side

So a table may be any function of its group's bits, all their products included, and yet the head is linear in e: what
solves a linear head solves this one. Overlapping thresholds keep neighbouring values alike.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equipoise.core.streams import stream
from equipoise.data.photographs import crops
from equipoise.models.classifier import Classifier

N_PUBLIC, AT_ONCE = 512, 64
"""Public inputs that thresholds are measured on, and how many of them the encoder gets at once."""


class BucketHead(nn.Module):
    """W, b, and the thresholds, which are part of the state: whoever has it predicts alike."""

    thresholds: Tensor
    order: Tensor

    def __init__(self, n_features: int, n_classes: int, levels: int, group: int, seed: int) -> None:
        n_groups = -(-n_features * levels // group)
        super().__init__()
        self.in_features = n_groups * 2**group
        self.weight = nn.Parameter(torch.zeros(n_classes, self.in_features))
        self.bias = nn.Parameter(torch.zeros(n_classes))
        self.n_features, self.n_classes = n_features, n_classes
        self.levels, self.group, self.seed = levels, group, seed
        drawn = stream(seed, "bucket-order").permutation(n_features * levels)
        self.register_buffer("order", torch.from_numpy(np.resize(drawn, n_groups * group)), persistent=False)
        self.register_buffer("thresholds", torch.zeros(n_features, levels))

    def forward(self, features: Tensor) -> Tensor:
        return F.embedding(self._addresses(features), self.weight.T).sum(1) + self.bias

    def expanded(self, features: Tensor) -> Tensor:
        """e of a batch: one 1 for each group."""
        found = features.new_zeros(len(features), self.in_features)
        return found.scatter_(1, self._addresses(features), 1.0)

    def _addresses(self, features: Tensor) -> Tensor:
        """a_G of each group, counted on from table to table [B, groups]."""
        bits = (features[:, :, None] > self.thresholds).flatten(1)[:, self.order].view(len(features), -1, self.group)
        places = 2 ** torch.arange(self.group, device=features.device)
        first = 2**self.group * torch.arange(bits.shape[1], device=features.device)
        addresses: Tensor = (bits * places).sum(2) + first
        return addresses


def set_thresholds(model: Classifier, shape: tuple[int, ...]) -> None:
    """Measure the thresholds of a bucket head; other heads have none."""
    head = getattr(model, "head", None)
    if not isinstance(head, BucketHead):
        return
    with torch.inference_mode():
        seen = torch.cat([model.eval().encoder(part) for part in torch.split(public_inputs(shape), AT_ONCE)])
        mean, deviation = seen.mean(0), seen.std(0)
    levels = torch.special.ndtri(torch.arange(1, head.levels + 1) / (head.levels + 1))
    head.thresholds.copy_(mean[:, None] + deviation[:, None] * levels)
    model.train()


def public_inputs(shape: tuple[int, ...]) -> Tensor:
    """Cuts of public photographs as large as an image; for rows, standard normal numbers."""
    if len(shape) == 3:
        return torch.from_numpy(crops(shape[0], (shape[1], shape[2]), N_PUBLIC))
    return torch.from_numpy(stream(0, "public-rows").standard_normal((N_PUBLIC, *shape)).astype(np.float32))
