"""Geometry of prototypes: their length, distance from their anchors, and spread between clients.

proto/norm            mean_c ‖p_kc‖                                  of client k
proto/anchor_cosine   mean_c cos(p_kc, a_c)                          of client k
proto/spread          mean_c √(mean_k ‖p̂_kc − mean_k p̂_kc‖²)         p̂ has length 1, so length has no effect
proto/norm_ratio      max_k proto/norm over min_k proto/norm
proto/anchor_deviation   mean_c ‖p̄_c − a_c‖                           of the merged prototypes
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from equipoise.evaluate.score import Scores
from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.server.predict import Merged, ordered


def prototype_scores(merged: Merged) -> Scores:
    """Empty for a model without prototypes."""
    if PROTOTYPES not in merged.model:
        return {}
    clients = ordered(merged)
    rows = torch.stack([client.model[PROTOTYPES].double() for client in clients])  # [K, C, D]
    anchors = merged.model[ANCHORS].double()
    norms = rows.norm(dim=2).mean(1)
    cosines = F.cosine_similarity(rows, anchors[None], dim=2).mean(1)
    unit = F.normalize(rows, dim=2)
    spread = (unit - unit.mean(0)).square().sum(2).mean(0).sqrt().mean()
    scores: Scores = {
        (None, "proto/spread"): spread.item(),
        (None, "proto/norm_ratio"): (norms.max() / norms.min().clamp_min(1e-12)).item(),
        (None, "proto/anchor_deviation"): (merged.model[PROTOTYPES].double() - anchors).norm(dim=1).mean().item(),
    }
    for client, norm, cosine in zip(clients, norms.tolist(), cosines.tolist(), strict=True):
        scores |= {(client.client, "proto/norm"): norm, (client.client, "proto/anchor_cosine"): cosine}
    return scores
