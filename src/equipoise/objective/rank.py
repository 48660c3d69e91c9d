"""Next-item losses, one per position.

    softmax   ℓ_t = −z_t,i⁺ + log Σ_c e^{z_t,c}                       over the whole catalogue
    unmet     the same over items not met before t, as in the evaluation
    sampled   ℓ_t = −z_t,i⁺ + log(e^{z_t,i⁺} + Σ_{n ∈ N} e^{z_t,n})    over negatives that the client drew
    bpr       ℓ_t = mean_{n ∈ N} −log σ(z_t,i⁺ − z_t,n)

The base loss is the mean over valid positions. Source: for `bpr`, Rendle et al., 2009.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def sampled_loss(positive: Tensor, negative: Tensor) -> Tensor:
    """Scores of positives [… T] and of negatives [… T, N] → losses [… T]."""
    return torch.cat([positive[..., None], negative], -1).logsumexp(-1) - positive


def bpr_loss(positive: Tensor, negative: Tensor) -> Tensor:
    """The mean over drawn negatives; padding in their list has the score −∞ and adds nothing."""
    return -F.logsigmoid(positive[..., None] - negative).sum(-1) / negative.isfinite().sum(-1)


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """The mean over valid entries; 0 without any."""
    return (values * valid).sum() / valid.sum().clamp_min(1)
