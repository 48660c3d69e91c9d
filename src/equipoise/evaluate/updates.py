"""How far clients moved, and whether in the same direction.

    update/norm = ‖w_k − w‖        update/cosine = cos(w_k − w, Σ_j (n_j / n)·(w_j − w))
    branch/<name>/move = √mean((w_k − w)²) over the branch's weights, over the same of the backbone

over trainable weights that are merged; w is what the clients started from. Squares and products are summed in parts of
one weight at a time, to save memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from equipoise.client.branches import branch_ratios
from equipoise.core.values import ClientUpdate, State
from equipoise.evaluate.score import Scores
from equipoise.server.optimise import trainable

AT_ONCE = 2**22
"""Number of elements that are processed together."""


def update_scores(start: State, updates: Sequence[ClientUpdate]) -> Scores:
    """`start` holds the merged weights; it is empty if everything stays with the clients."""
    if not start:
        return {}
    names, models = sorted(trainable(start)), [whole(update, start) for update in updates]
    total = sum(update.samples for update in updates)
    shares = torch.tensor([update.samples / total for update in updates])
    squares = {name: torch.zeros(len(updates), dtype=torch.float64) for name in names}
    along, length = torch.zeros(len(updates), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for name in names:
        for moves in _moves([model[name] for model in models], start[name]):
            mean = shares.to(moves.dtype) @ moves
            squares[name] += _squared(moves)
            along += moves @ mean
            length += _squared(mean)
    norms = torch.stack(list(squares.values())).sum(0).sqrt()
    cosines = along / (norms * length.sqrt()).clamp_min(torch.finfo(torch.float64).tiny)
    ratios = branch_ratios(squares, {name: start[name].numel() for name in names})
    measured = {"update/norm": norms, "update/cosine": cosines}
    measured |= {f"branch/{branch}/move": ratio for branch, ratio in ratios.items()}
    return {
        (update.client, name): value
        for name, values in measured.items()
        for update, value in zip(updates, values.tolist(), strict=True)
    }


def _moves(weights: Sequence[Tensor], start: Tensor) -> Iterator[Tensor]:
    """w_k − w of one weight for all clients, in parts [K, n]."""
    flat, origin = [weight.reshape(-1) for weight in weights], start.reshape(-1)
    size = max(1, AT_ONCE // len(weights))
    for first in range(0, len(origin), size):
        part = slice(first, first + size)
        yield torch.stack([weight[part] for weight in flat]).sub_(origin[part])


def _squared(moves: Tensor) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(moves, dim=-1, dtype=torch.float64)
    return norm.square()


def whole(update: ClientUpdate, start: State) -> State:
    """The client's model; rows that it does not hold are taken from `start`."""
    parts = {name: start[name].index_copy(0, rows, update.model[name]) for name, rows in update.rows.items()}
    return {**update.model, **parts}
