"""ItemPop: everybody is offered what is met most often.

    score_j = Σ_u #(j among the training items of user u)

The sum is over clients; each sends the counts of its own history. Source: the usual reference of ranking studies.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from equipoise.core.values import Indices


def count_items(items: Indices, bounds: Indices, train_end: Indices, n_items: int) -> Indices:
    """How often each item is among the first train_end[u] of a history, summed over the users given: int64 [V]."""
    _, at = spanned(bounds[:-1], train_end)
    return np.bincount(items[at], minlength=n_items)


def score_items(counts: Indices, n_users: int) -> Tensor:
    """The same float32 scores for every user: [U, V]."""
    return torch.from_numpy(counts.astype(np.float32)).expand(n_users, -1)


def spanned(starts: Indices, lengths: Indices) -> tuple[Indices, Indices]:
    """Users and positions of the lengths[u] places from starts[u] on; a negative length is none.

    >>> users, at = spanned(np.array([0, 3, 5]), np.array([2, -1, 3]))
    >>> users.tolist(), at.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 5, 6, 7])
    """
    sizes = np.maximum(lengths, 0)
    users = np.repeat(np.arange(len(starts)), sizes)
    return users, np.arange(len(users)) + (starts - np.cumsum(sizes) + sizes)[users]
