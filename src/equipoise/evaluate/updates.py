"""How far clients moved, and whether together.

    update/norm = ‖w_k − w‖        update/cosine = cos(w_k − w, Σ_j (n_j / n)·(w_j − w))
    branch/<name>/move = √mean((w_k − w)²) over the branch's weights, over the same of the backbone

over trainable weights in the order of their names; w is what the clients started from.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from equipoise.client.branches import branch_ratios, in_branch
from equipoise.core.values import ClientUpdate, State
from equipoise.evaluate.score import Scores
from equipoise.server.optimise import trainable


def update_scores(start: State, updates: Sequence[ClientUpdate]) -> Scores:
    names = sorted(trainable(start))
    total = sum(update.samples for update in updates)
    origin = _flat(start, names)
    mean = torch.zeros_like(origin)
    for update in updates:
        mean += (update.samples / total) * (_flat(whole(update, start), names) - origin)
    scores: Scores = {}
    for update in updates:
        move = _flat(whole(update, start), names) - origin
        scores[update.client, "update/norm"] = move.norm().item()
        scores[update.client, "update/cosine"] = torch.cosine_similarity(move, mean, dim=0).item()
        moves = {name: (update.model[name] - start[name]).square() for name in names if in_branch(name)}
        for branch, ratio in branch_ratios(moves).items():
            scores[update.client, f"branch/{branch}/move"] = float(ratio)
    return scores


def whole(update: ClientUpdate, start: State) -> State:
    """The client's model, with the rows it does not hold as they were."""
    parts = {name: start[name].index_copy(0, rows, update.model[name]) for name, rows in update.rows.items()}
    return {**update.model, **parts}


def _flat(state: State, names: Sequence[str]) -> Tensor:
    return torch.cat([state[name].flatten().double() for name in names])
