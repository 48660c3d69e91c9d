"""Two losses on a pair of experts: a contrast that aligns their outputs, and a load balance that keeps both in use.

    con   mean_i w_i·½(ℓ_i^{v→s} + ℓ_i^{s→v}),   ℓ_i^{v→s} = −log( e^{v_i·s_i/τ} / Σ_j e^{v_i·s_j/τ} ),   τ = 0.07 fixed
          w_i = (1 + α·s_i)/mean(1 + α·s),   s_i = σ((r_i − m)/d)
    lb    Σ_e (mean_i weight_ie − 1/E)²

v and s are the experts' outputs for the positives, scaled to length 1. r_i is the detached loss of position i; m and d
are the running mean and deviation of this client's losses, so s_i measures surprise relative to the client. Three other
weightings are kept by name: `none`, and two that fail in the fifth report: `temperature` (τ grows with surprise) and
`after-mean` (mean weight times mean loss, so that no sample gains on another).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.config.choices import Weighting
from equipoise.objective.rank import masked_mean


class ContrastResult(NamedTuple):
    """The loss, and the loss and weight of each sample for recording."""

    loss: Tensor
    each: Tensor
    weights: Tensor


def surprise(losses: Tensor, level: Tensor) -> Tensor:
    """s ∈ (0, 1) of each loss; `level` is the running (mean, deviation) of the client's losses."""
    return torch.sigmoid((losses - level[0]) / level[1].clamp_min(1e-6))


def instance_weights(surprised: Tensor, valid: Tensor, alpha: float) -> Tensor:
    """w, with mean 1 over the valid samples; 0 for padding."""
    raw = 1 + alpha * surprised
    return raw / masked_mean(raw, valid).clamp_min(1e-12) * valid


def contrast(
    visual: Tensor, semantic: Tensor, surprised: Tensor, rivals: Tensor, how: ContrastOptions
) -> ContrastResult:
    """con of visual and semantic [N, D], surprised [N]; rivals [N, N] is true on the diagonal for valid samples."""
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
    """[N, N]: the samples that each sample is compared with, which are itself and all samples of other items.

    Two samples of one item are not compared: their outputs are supposed to be alike."""
    other = targets[:, None] != targets[None]
    return (other | torch.eye(len(targets), dtype=torch.bool, device=targets.device)) & valid[:, None] & valid[None]


def _cross(logits: Tensor, own: Tensor, valid: Tensor) -> Tensor:
    """−log softmax at the own column; padding rows and their gradients are 0."""
    safe = logits.masked_fill(~valid[:, None], 0.0)
    return F.cross_entropy(safe, own, reduction="none") * valid


class ContrastOptions(NamedTuple):
    """τ, α and the weighting of con."""

    tau: float = 0.07
    alpha: float = 0.5
    weighting: Weighting = "instance"


def load_balance(weights: Tensor, valid: Tensor) -> Tensor:
    """lb of the router's weights [N, E] for the positives."""
    usage = (weights * valid[:, None]).sum(0) / valid.sum().clamp_min(1)
    return (usage - 1 / weights.shape[-1]).square().sum()
