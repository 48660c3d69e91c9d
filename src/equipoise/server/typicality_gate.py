"""The energy gate with a second opinion: how typical the features are of the client's own classes.

    t_k(x) = −½·min_{c owned} (z_k − μ_kc)ᵀ Σ_k⁻¹ (z_k − μ_kc)        z_k = f_k/‖f_k‖        t̃_k = (t_k − m_k) / d_k
    g_k ∝ (n_k / n)·exp(ẽ_k(x) + t̃_k(x)), then as in `energy_gate`

μ_kc are the client's class means and Σ_k is the covariance of its own training samples around them, shrunk by a tenth;
both are part of its one upload. Source: ours; the distance is that of Lee et al., "A Simple Unified Framework", 2018.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.client.own import OwnSamples
from equipoise.core.values import ClientUpdate, State
from equipoise.server.energy_gate import energies, gated, owned_logits, spread, standardised
from equipoise.server.predict import Merged, ServerView, asks, ordered, shares

SHRINKAGE = 0.1
CLASSES = "classes."
"""Prefix of the names of class statistics in an answer."""


@asks("typicality", through="own")
def typicality_gate(view: ServerView, merged: Merged) -> Tensor:
    clients = ordered(merged)
    logits = [owned_logits(client.counts, view.outputs(client.model)) for client in clients]
    answers = [view.answers[client.client] for client in clients]
    energy = [standardised(logit, answer) for logit, answer in zip(logits, answers, strict=True)]
    typical = [_typical(view, client, answer) for client, answer in zip(clients, answers, strict=True)]
    gates = gated(torch.stack(energy) + torch.stack(typical), shares(clients))
    return (gates[:, :, None] * torch.stack(logits).softmax(2)).sum(0)


def _typical(view: ServerView, client: ClientUpdate, answer: State) -> Tensor:
    """t̃_k [N]."""
    report = {name.removeprefix(CLASSES): tensor for name, tensor in answer.items() if name.startswith(CLASSES)}
    turn = view.once(f"turn-{client.client}", lambda: torch.linalg.cholesky(report["precision"]))
    score = _nearness(view.outputs(client.model).features, report["means"], turn)
    return (score - report["mean"]) / report["deviation"]


def energies_and_classes(own: OwnSamples) -> State:
    """The energy gate's statistics, and the class statistics of the client's own samples."""
    return {**energies(own), **{f"{CLASSES}{name}": tensor for name, tensor in own_classes(own).items()}}


def own_classes(own: OwnSamples) -> State:
    """Means of the client's classes [C', D], the precision Σ⁻¹ [D, D], and mean and deviation of t."""
    features = own.outputs[0].features
    z = F.normalize(features, dim=1).double()
    present, position = torch.unique(own.labels, return_inverse=True)
    means = torch.stack([z[position == i].mean(0) for i in range(len(present))])
    rest = z - means[position]
    covariance = rest.T @ rest / len(z)
    level = covariance.diagonal().mean().clamp_min(1e-12)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * level * torch.eye(len(covariance), dtype=z.dtype)
    report = {"means": means, "precision": torch.linalg.inv(shrunk)}
    return {**report, **spread(typicality(features, report))}


def typicality(features: Tensor, report: State) -> Tensor:
    """t_k [N]."""
    return _nearness(features, report["means"], torch.linalg.cholesky(report["precision"]))


def _nearness(features: Tensor, means: Tensor, turn: Tensor) -> Tensor:
    """`turn` maps features so that the distance under the precision becomes Euclidean: turn·turnᵀ = Σ⁻¹."""
    z = F.normalize(features, dim=1).double()
    nearest = torch.cdist(z @ turn, means @ turn).amin(1)
    return (-0.5 * nearest.square()).float()
