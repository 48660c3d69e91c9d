"""How a model's branches fare beside its backbone: whether they get a gradient, whether they move.

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


def in_branch(name: str) -> bool:
    return branch_of(name) is not None


def branch_ratios(squares: Mapping[str, Tensor], clients: int | None = None) -> dict[str, Tensor]:
    """By branch, from the squares of every weight; with a leading axis of `clients`, one ratio each."""
    sums: dict[str, list[Tensor]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    for name, square in squares.items():
        branch = branch_of(name)
        if branch is not None:
            rows = square.reshape(clients or 1, -1)
            sums[branch].append(rows.sum(1))
            sizes[branch] += rows.shape[1]
    means = {branch: torch.stack(parts).sum(0) / sizes[branch] for branch, parts in sums.items()}
    backbone = means.pop(BACKBONE, None)
    if backbone is None:
        return {}
    return {branch: (mean / backbone.clamp_min(1e-30)).sqrt() for branch, mean in means.items()}


def branch_gradients(leaves: Mapping[str, Tensor], clients: int) -> dict[str, Tensor]:
    """branch/<name>/grad, one number per client, from the gradients that `leaves` hold now."""
    held = {name: leaf.grad.square() for name, leaf in leaves.items() if leaf.grad is not None and in_branch(name)}
    return {f"branch/{branch}/grad": ratio for branch, ratio in branch_ratios(held, clients).items()}
