"""Which samples a client sees, in which order: drawn from its own stream per epoch, so no other client affects it."""

from __future__ import annotations

from equipoise.core.streams import stream
from equipoise.core.values import Indices


def batches(n_samples: int, size: int, seed: int, epoch: int, client: int) -> list[Indices]:
    """The epoch's batches. A smaller last batch is kept; a single last sample joins the batch before it, because
    BatchNorm cannot be trained on one sample.

    >>> [len(batch) for batch in batches(65, 32, seed=0, epoch=0, client=0)]
    [32, 33]
    """
    order, n = shuffled(n_samples, seed, epoch, client), n_batches(n_samples, size)
    return [order[k * size : (k + 1) * size if k + 1 < n else n_samples] for k in range(n)]


def shuffled(n_samples: int, seed: int, epoch: int, client: int) -> Indices:
    return stream(seed, "batches", epoch, client).permutation(n_samples)


def n_batches(n_samples: int, size: int) -> int:
    """How many batches an epoch has.

    >>> n_batches(64, 32), n_batches(65, 32), n_batches(66, 32), n_batches(3, 1)
    (2, 2, 3, 3)
    """
    n = max(1, -(-n_samples // size))
    return n - 1 if n > 1 and size > 1 and n_samples % size == 1 else n
