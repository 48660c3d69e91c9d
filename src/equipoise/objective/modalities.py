"""What ties the two experts together, and what keeps both in use.

    con   mean_i w_i·½(ℓ_i^{v→s} + ℓ_i^{s→v}),   ℓ_i^{v→s} = −log( e^{v_i·s_i/τ} / Σ_j e^{v_i·s_j/τ} ),   τ = 0.07 fixed
          w_i = (1 + α·s_i)/mean(1 + α·s),   s_i = σ((r_i − m)/d)
    lb    Σ_e (mean_i weight_ie − 1/E)²

v, s are the experts' outputs of the positives, of length 1; r_i is the detached loss of position i, m and d the running
mean and deviation of this client's losses, so s_i is the client's own surprise. Three other weightings are kept by
name: `none`, and two failures of the fifth report: `temperature` (τ grows with surprise) and `after-mean` (the mean
weight times the mean loss, so that no sample gains on another).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.config.choices import Weighting
from equipoise.objective.rank import masked_mean


class ContrastResult(NamedTuple):
    """The loss; per sample its loss and its weight, for the record."""

    loss: Tensor
    each: Tensor
    weights: Tensor


def surprise(losses: Tensor, level: Tensor) -> Tensor:
    """s ∈ (0, 1) of each loss; `level` is the running (mean, deviation)."""
    return torch.sigmoid((losses - level[0]) / level[1].clamp_min(1e-6))


def instance_weights(surprised: Tensor, valid: Tensor, alpha: float) -> Tensor:
    """w, of mean 1 over the samples that exist; 0 for the others."""
    raw = 1 + alpha * surprised
    return raw / masked_mean(raw, valid).clamp_min(1e-12) * valid


def contrast(
    visual: Tensor, semantic: Tensor, surprised: Tensor, rivals: Tensor, how: ContrastOptions
) -> ContrastResult:
    """visual, semantic [N, D]; surprised [N]; rivals [N, N], each sample being one of its own where it exists."""
    v, s = F.normalize(visual, dim=-1), F.normalize(semantic, dim=-1)
    tau = (
        how.tau * (1 + how.alpha * surprised) if how.weighting == "temperature" else torch.full_like(surprised, how.tau)
    )
    cosine, valid = v @ s.T, rivals.diagonal()
    to_semantic = (cosine / tau[:, None]).masked_fill(~rivals, -torch.inf)
    to_visual = (cosine.T / tau[:, None]).masked_fill(~rivals, -torch.inf)
    own = torch.arange(len(v), device=v.device)
    each = 0.5 * (_cross(to_semantic, own, valid) + _cross(to_visual, own, valid))
    raw = instance_weights(surprised, valid, how.alpha)
    if how.weighting == "after-mean":
        return ContrastResult(
            masked_mean(1 + how.alpha * surprised, valid) * masked_mean(each, valid), each, valid.float()
        )
    weights = raw if how.weighting == "instance" else valid.float()
    return ContrastResult(masked_mean(weights * each, valid), each, weights)


def rivals_of(targets: Tensor, valid: Tensor) -> Tensor:
    """[N, N] which samples each is compared with: itself, and all of other items. An item that is met twice is no
    rival of itself: its two outputs are alike, and are meant to be."""
    other = targets[:, None] != targets[None]
    return (other | torch.eye(len(targets), dtype=torch.bool, device=targets.device)) & valid[:, None] & valid[None]


def _cross(logits: Tensor, own: Tensor, valid: Tensor) -> Tensor:
    """−log softmax at its own column; rows that do not exist are 0, and so is their gradient."""
    safe = logits.masked_fill(~valid[:, None], 0.0)
    return F.cross_entropy(safe, own, reduction="none") * valid


class ContrastOptions(NamedTuple):
    tau: float = 0.07
    alpha: float = 0.5
    weighting: Weighting = "instance"


def load_balance(weights: Tensor, valid: Tensor) -> Tensor:
    """weights [N, E] of the positives."""
    usage = (weights * valid[:, None]).sum(0) / valid.sum().clamp_min(1)
    return (usage - 1 / weights.shape[-1]).square().sum()
