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

AT_ONCE = 2**22
"""Numbers that are looked at together: many clients of a small model, one of a large one."""


def update_scores(start: State, updates: Sequence[ClientUpdate]) -> Scores:
    names = sorted(trainable(start))
    origin, total = _flat(start, names), sum(update.samples for update in updates)
    size = max(1, AT_ONCE // max(1, len(origin)))
    chunks = [updates[first : first + size] for first in range(0, len(updates), size)]
    mean = torch.zeros_like(origin)
    for chunk in chunks:
        mean += torch.tensor([update.samples / total for update in chunk], dtype=torch.float64) @ _moves(
            chunk, start, names
        )
    scores: Scores = {}
    for chunk in chunks:
        moves = _moves(chunk, start, names)
        cosines = torch.cosine_similarity(moves, mean, dim=1).tolist()
        for update, norm, cosine in zip(chunk, moves.norm(dim=1).tolist(), cosines, strict=True):
            scores[update.client, "update/norm"], scores[update.client, "update/cosine"] = norm, cosine
    for update in updates:
        moved = {name: (update.model[name] - start[name]).square() for name in names if in_branch(name)}
        for branch, ratio in branch_ratios(moved).items():
            scores[update.client, f"branch/{branch}/move"] = float(ratio)
    return scores


def _moves(updates: Sequence[ClientUpdate], start: State, names: Sequence[str]) -> Tensor:
    """w_k − w of some clients, [K, all weights]."""
    models = [whole(update, start) for update in updates]
    parts = [torch.stack([model[name] for model in models]).view(len(models), -1).double() for name in names]
    return torch.cat(parts, 1) - _flat(start, names)


def whole(update: ClientUpdate, start: State) -> State:
    """The client's model, with the rows it does not hold as they were."""
    parts = {name: start[name].index_copy(0, rows, update.model[name]) for name, rows in update.rows.items()}
    return {**update.model, **parts}


def _flat(state: State, names: Sequence[str]) -> Tensor:
    return torch.cat([state[name].flatten().double() for name in names])
