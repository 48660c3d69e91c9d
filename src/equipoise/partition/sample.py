"""Estimate overlap and gaps for many clients from the first thousand of them.

    π_c = mean over the counted clients of n_kc / n_c        chance that a client holds a given image of class c
    unowned = Σ_c (n_c/N)·(1 − π_c)^K
    overlap = Σ_c (n_c/N)·[1 − (1 − π_c)^K − K·π_c·(1 − π_c)^(K−1)]

These are expected values, if all K clients draw independently by one rule. With 1000 clients or fewer all are counted
and nothing is estimated. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.core.values import Indices
from equipoise.partition.check import Check
from equipoise.partition.drawn import Drawn

COUNTED = 1000


def counted(indices: Sequence[Indices]) -> Sequence[Indices]:
    """The indices of all clients, or of the first thousand if clients are drawn on demand."""
    return indices[:COUNTED] if isinstance(indices, Drawn) else indices


def expected(check: Check, counts: Indices, totals: Indices, n_clients: int) -> Check:
    """The expected check of all clients, from `check` and `counts` of some of them."""
    weight = totals / totals.sum()
    chance = counts.mean(axis=0) / np.maximum(totals, 1)
    none = (1 - chance) ** n_clients
    one = n_clients * chance * (1 - chance) ** (n_clients - 1)
    overlap, unowned = float(weight @ np.maximum(1 - none - one, 0)), float(weight @ none)
    less_than_one = 0.5 / int(totals.sum())
    return replace(
        check,
        disjoint=check.disjoint and overlap < less_than_one,
        covering=unowned < less_than_one,
        labels_equal=False,
        overlap=overlap,
        unowned=unowned,
    )


def owned(indices: Sequence[Indices], n_samples: int) -> Indices:
    """All samples that have an owner, ascending; stops early once every sample has one."""
    has_owner = np.zeros(n_samples, dtype=np.bool_)
    for index in indices:
        has_owner[index] = True
        if has_owner.all():
            break
    return np.flatnonzero(has_owner)
