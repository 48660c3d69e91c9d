"""Turn one owner per sample into one list per client; reach the minimum size by repair, never by redrawing.

    while a client k has n_k < min_size:
        the largest client gives k one sample, drawn from its own largest class

A donor stays above the minimum because K·min_size ≤ N, so this ends after Σ_k max(0, min_size − n_k) moves. Since each
sample has one owner, no splitter built on this can overlap or leave a gap. Source: ours.
"""

from __future__ import annotations

from heapq import heapify, heapreplace

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.values import Indices, Labels


def settle(owner: Indices, labels: Labels, options: PartitionOptions, rng: np.random.Generator) -> list[Indices]:
    """The samples of each client, ascending, every client with at least `min_size` of them."""
    owner = repair(owner, labels, options, rng)
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=options.clients))
    return [order[end - size : end] for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)]


def require_room(n_samples: int, options: PartitionOptions) -> None:
    wanted = (options.clients or 0) * options.min_size  # a split file says itself how many clients there are
    if wanted > n_samples:
        raise PartitionError(
            f"{options.clients} clients of at least {options.min_size} need {wanted} samples, there are {n_samples}",
            where=f"partition {options.name}",
            fix="lower partition.clients or partition.min_size, or raise data.limit",
        )


def repair(owner: Indices, labels: Labels, options: PartitionOptions, rng: np.random.Generator) -> Indices:
    """The same owners, with the fewest moves that reach the minimum size."""
    K, C = options.clients, int(labels.max()) + 1
    sizes = np.bincount(owner, minlength=K)
    short = np.maximum(options.min_size - sizes, 0)
    if not short.any():
        return owner
    group = owner * C + labels
    order = np.lexsort((rng.random(len(owner)), group))
    counts = np.bincount(group, minlength=K * C).reshape(K, C)
    ends = np.cumsum(counts).reshape(K, C)
    donors = [(-int(size), client) for client, size in enumerate(sizes) if size > options.min_size]
    heapify(donors)
    owner = owner.copy()
    for client in np.repeat(np.arange(K), short):
        size, donor = donors[0]
        label = counts[donor].argmax()
        counts[donor, label] -= 1
        ends[donor, label] -= 1
        owner[order[ends[donor, label]]] = client
        heapreplace(donors, (size + 1, donor))
    return owner
