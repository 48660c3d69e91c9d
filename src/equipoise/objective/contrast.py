"""Supervised contrast: pulls views of one class together and pushes all others apart.

    con = mean_i −1/|Pos(i)| Σ_{j ∈ Pos(i)} log( e^{z_i·z_j/τ} / (Σ_{m ≠ i} e^{z_i·z_m/τ} + Σ_n e^{z_i·v_n/τ}) )

z are features of length 1. Pos(i) are the other views with i's label. v are extra negatives from a bank; where the bank
has labels, those with i's label are left out. A view without positives is left out of the mean.
Source: Khosla et al., "Supervised Contrastive Learning", 2020, eq. 2.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.objective.compose import Term, View


def contrast(tau: float = 0.07, bank: str | None = None) -> Term:
    """`bank` names the received tensors with extra negatives: `{bank}.features` of length 1, `{bank}.labels`."""

    def con(view: View) -> Tensor:
        z = F.normalize(view.features, dim=1)
        extra = None
        if bank is not None and f"{bank}.features" in view.received:
            other = view.labels[:, None] != view.received[f"{bank}.labels"][None]
            extra = (z @ view.received[f"{bank}.features"].T / tau).masked_fill(~other, -torch.inf)
        return supervised_contrast(z, view.labels, tau, extra, None if view.share is None else view.share > 0)

    return con


def supervised_contrast(
    z: Tensor, labels: Tensor, tau: float, extra: Tensor | None = None, there: Tensor | None = None
) -> Tensor:
    """con of features z [B, D]. `there` [B] is false for padding, which is neither a positive nor a negative."""
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    if there is not None:
        itself = itself | ~there
    logits = (z @ z.T / tau).masked_fill(itself, -torch.inf)
    everyone = logits if extra is None else torch.cat([logits, extra], 1)
    log_share = logits - everyone.logsumexp(1, keepdim=True)
    positive = (labels[:, None] == labels[None]) & ~itself
    positive = positive if there is None else positive & there[:, None]
    n_positive = positive.sum(1)
    per_view = -log_share.masked_fill(~positive, 0.0).sum(1) / n_positive.clamp_min(1)
    return per_view.sum() / (n_positive > 0).sum().clamp_min(1)
