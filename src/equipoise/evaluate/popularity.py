"""ItemPop: recommends the items that are met most often, the same for all users.

    score_j = Σ_u #(j among the training items of user u)

Each client would send the counts of its own history; the sum is over clients. Source: the usual baseline of ranking
studies.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from equipoise.core.values import Indices


def count_items(items: Indices, bounds: Indices, train_end: Indices, n_items: int) -> Indices:
    """How often each item occurs in the first train_end[u] items of a history, summed over users: int64 [V]."""
    _, at = spanned(bounds[:-1], train_end)
    return np.bincount(items[at], minlength=n_items)


def score_items(counts: Indices, n_users: int) -> Tensor:
    """The same float32 scores for every user, as [U, V]."""
    return torch.from_numpy(counts.astype(np.float32)).expand(n_users, -1)


def spanned(starts: Indices, lengths: Indices) -> tuple[Indices, Indices]:
    """Users and positions of the ranges starts[u] … starts[u] + lengths[u] − 1; a negative length means an empty range.

    >>> users, at = spanned(np.array([0, 3, 5]), np.array([2, -1, 3]))
    >>> users.tolist(), at.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 5, 6, 7])
    """
    sizes = np.maximum(lengths, 0)
    users = np.repeat(np.arange(len(starts)), sizes)
    return users, np.arange(len(users)) + (starts - np.cumsum(sizes) + sizes)[users]
