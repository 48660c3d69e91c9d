"""Compares a model's branches with its backbone: whether they get a gradient, whether they move.

    ratio of a branch = √mean(x²) over its weights / √mean(x²) over the backbone's

x is a gradient, or how far a weight has moved. Branches are parameters called `experts.<name>.…`, the backbone those
called `backbone.…`; a model without them has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import torch
from torch import Tensor

BACKBONE = "backbone"


def branch_of(name: str) -> str | None:
    """The branch that a parameter belongs to; None where it is neither in a branch nor in the backbone."""
    parts = name.split(".")
    return parts[1] if parts[0] == "experts" else BACKBONE if parts[0] == BACKBONE else None


def branch_ratios(squares: Mapping[str, Tensor], sizes: Mapping[str, int]) -> dict[str, Tensor]:
    """For each branch one ratio per client, from the sum of squares of each weight [K] and its number of elements."""
    sums: dict[str, list[Tensor]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    for name, square in squares.items():
        branch = branch_of(name)
        if branch is not None:
            sums[branch].append(square)
            counts[branch] += sizes[name]
    means = {branch: torch.stack(parts).sum(0) / counts[branch] for branch, parts in sums.items()}
    backbone = means.pop(BACKBONE, None)
    if backbone is None:
        return {}
    return {branch: (mean / backbone.clamp_min(1e-30)).sqrt() for branch, mean in means.items()}


def branch_gradients(leaves: Mapping[str, Tensor], clients: int) -> dict[str, Tensor]:
    """branch/<name>/grad, one number per client, from the gradients that `leaves` hold now."""
    found = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None and branch_of(name) is not None}
    rows = {name: grad.reshape(clients, -1) for name, grad in found.items()}
    squares = {name: row.square().sum(1) for name, row in rows.items()}
    ratios = branch_ratios(squares, {name: row.shape[1] for name, row in rows.items()})
    return {f"branch/{branch}/grad": ratio for branch, ratio in ratios.items()}
