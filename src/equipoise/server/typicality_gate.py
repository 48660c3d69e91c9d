"""The energy gate with a second opinion: how typical the features are of the client's own classes.

    t_k(x) = −½·min_{c owned} (z_k − μ_kc)ᵀ Σ_k⁻¹ (z_k − μ_kc)        z_k = f_k/‖f_k‖        t̃_k = (t_k − m_k) / d_k
    g_k ∝ (n_k / n)·exp(ẽ_k(x) + t̃_k(x)), then as in `energy_gate`

μ_kc and Σ_k, of the client's own training images around their class means and shrunk by a tenth, are part of its one
upload. Source: ours; the distance is that of Lee et al., "A Simple Unified Framework", 2018.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.core.values import ClientUpdate, State
from equipoise.models.classifier import Seen
from equipoise.server.energy_gate import gated, owned_logits, spread, standardised
from equipoise.server.predict import Merged, ServerView, ordered, shares

SHRINKAGE = 0.1


def typicality_gate(view: ServerView, merged: Merged) -> Tensor:
    clients = ordered(merged)
    logits = [owned_logits(client, view.asked(client.model)) for client in clients]
    energy = [standardised(view, client, logit) for client, logit in zip(clients, logits, strict=True)]
    typical = [_typical(view, client) for client in clients]
    gates = gated(torch.stack(energy) + torch.stack(typical), shares(clients))
    return (gates[:, :, None] * torch.stack(logits).softmax(2)).sum(0)


def _typical(view: ServerView, client: ClientUpdate) -> Tensor:
    """t̃_k [N]."""
    report = view.ask(client.client, [client.model], own_classes)
    score = typicality(view.asked(client.model).features, report)
    return (score - report["mean"]) / report["deviation"]


def own_classes(seen: Sequence[Seen], labels: Tensor) -> State:
    """Means of the classes there are [C', D], the precision Σ⁻¹ [D, D], and mean and deviation of t."""
    z = F.normalize(seen[0].features, dim=1).double()
    present, position = torch.unique(labels, return_inverse=True)
    means = torch.stack([z[position == i].mean(0) for i in range(len(present))])
    rest = z - means[position]
    covariance = rest.T @ rest / len(z)
    level = covariance.diagonal().mean().clamp_min(1e-12)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * level * torch.eye(len(covariance), dtype=z.dtype)
    report = {"means": means, "precision": torch.linalg.inv(shrunk)}
    return {**report, **spread(typicality(seen[0].features, report))}


def typicality(features: Tensor, report: State) -> Tensor:
    z = F.normalize(features, dim=1).double()
    turn = torch.linalg.cholesky(report["precision"])
    nearest = torch.cdist(z @ turn, report["means"] @ turn).amin(1)
    return (-0.5 * nearest.square()).float()
