"""How far clients moved, and whether together.

    update/norm = ‖w_k − w‖        update/cosine = cos(w_k − w, Σ_j (n_j / n)·(w_j − w))

over trainable weights in the order of their names; w is what the clients started from.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State
from equipoise.evaluate.score import Scores
from equipoise.server.optimise import trainable


def update_scores(start: State, updates: Sequence[ClientUpdate]) -> Scores:
    names = sorted(trainable(start))
    total = sum(update.samples for update in updates)
    moves = [_flat(update.model, names) - _flat(start, names) for update in updates]
    mean = torch.stack([m * (u.samples / total) for m, u in zip(moves, updates, strict=True)]).sum(0)
    scores: Scores = {}
    for update, move in zip(updates, moves, strict=True):
        scores[update.client, "update/norm"] = move.norm().item()
        scores[update.client, "update/cosine"] = torch.cosine_similarity(move, mean, dim=0).item()
    return scores


def _flat(state: State, names: Sequence[str]) -> Tensor:
    return torch.cat([state[name].flatten().double() for name in names])
