"""The tables by which items are ranked, solved from all users' sums (`server/item_sums`).

    markov = √n                        followed from the newest items, the p-th of them with weight 1/p
    ridge  = (G + r·I)⁻¹ S             read from a decayed window, the p-th newest item with weight decay^{p−1}
             in the blend column j is divided by c_j^damping, c = Σ_i S_ij: how often an item came next
    score  = x·table                   x = Σ_p weight_p·e(p-th newest item)

The root keeps frequent pairs from dominating (`evaluate/markov`). The blend already has a table that favours frequent
items, and gains by one that does not: on validation (MovieLens-1M, all users, ndcg@10/full) .1759 without damping,
.1777 with the power ¼, .1779 with ½ and ¾, though the ridge alone falls from .1668 to .1436 with ½. r·I keeps G regular
for every r > 0, so items that nobody met get scores of 0. Source of the ridge: linear item models (EASE; Steck,
"Embarrassingly Shallow Autoencoders", 2019), with windows in order of time in place of whole histories: ours.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
import torch
from torch import Tensor

from equipoise.core.errors import ClientError
from equipoise.core.values import Floats, State
from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_sums import unit

PAIR_BYTES = 56
"""Memory per pair of items: three sums in double precision, the whole G, its factor and the solution, two tables."""


def most_items(memory: int) -> int:
    """Most items whose sums and tables fit into so many bytes."""
    return isqrt(memory // PAIR_BYTES)


def solved(sums: State, options: ItemSumsOptions) -> State:
    """The tables [V, V] in single precision, by name."""
    n_items = int(sums["items"].item())
    if not any(tensor.any() for name, tensor in sums.items() if name != "items"):
        what = "no history has two items one after another, so that nothing follows from anything"
        raise ClientError(what, where="data", fix="data whose users have longer histories")
    found: dict[str, Tensor] = {}
    if "markov" in options.tables:
        found["markov"] = (sums["transitions"] / unit(options.gaps)).sqrt().view(n_items, n_items).float()
    if "ridge" in options.tables:
        ridge = _ridge(sums["gram"].view(n_items, -1), sums["next"].view(n_items, -1), options.strength)
        damping = options.damping if options.score == "blend" else 0.0
        found["ridge"] = (ridge / _counts(sums["next"].view(n_items, -1)) ** damping).float()
    return found


def _counts(following: Tensor) -> Tensor:
    """c; 1 for items that never came next, whose columns are zero."""
    counts = following.sum(0)
    return counts.where(counts > 0, 1.0)


def _ridge(upper: Tensor, following: Tensor, strength: float) -> Tensor:
    gram = upper + upper.T
    gram.diagonal().mul_(0.5).add_(strength)
    factor, bad = torch.linalg.cholesky_ex(gram)
    if bad:
        what = f"the sums are singular to double precision at item {int(bad) - 1} with strength {strength:g}"
        raise ClientError(what, where="method.strength", fix="a larger method.strength")
    return torch.cholesky_solve(following, factor)


def weights_of(table: str, options: ItemSumsOptions) -> Floats:
    """The weight of the p-th newest item in a table's score."""
    if table == "markov":
        return np.asarray(1 / np.arange(1.0, options.newest + 1))
    return np.asarray(options.decay ** np.arange(float(options.window)))
