"""Merging prototypes: weights are averaged by samples as always, the prototype rows in one of three ways.

plain    p̄_c = (1/K)·Σ_k p_kc                            as published: rows of classes a client never saw count too
unit     p̄_c = (1/K)·Σ_k p_kc / ‖p_kc‖                   a client with long prototypes no longer dominates
counts   p̄_c = Σ_k n_kc·p_kc / Σ_k n_kc                  only clients that have the class; plain if no client has it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.config.choices import Prototypes
from equipoise.core.values import ClientUpdate
from equipoise.models.heads import PROTOTYPES
from equipoise.server.mean import weighted_mean
from equipoise.server.merge import Merge, ServerState


def merge_prototypes(kind: Prototypes) -> Merge:
    def merge(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        ordered = sorted(updates, key=lambda update: update.client)
        return replace(state, model={**weighted_mean(ordered), PROTOTYPES: merged(kind, ordered)})

    return merge


def merged(kind: Prototypes, updates: Sequence[ClientUpdate]) -> Tensor:
    """P̄ [C, D]."""
    rows = torch.stack([update.model[PROTOTYPES].double() for update in updates])  # [K, C, D]
    if kind == "unit":
        rows = F.normalize(rows, dim=2)
    weights = torch.ones(rows.shape[:2], dtype=rows.dtype)
    if kind == "counts":
        counts = torch.stack([torch.tensor(update.counts, dtype=rows.dtype) for update in updates])
        weights = torch.where(counts.sum(0) > 0, counts, weights)
    mean = (weights[:, :, None] * rows).sum(0) / weights.sum(0)[:, None]
    return mean.to(updates[0].model[PROTOTYPES].dtype)
