"""Which images a client sees, in which order: its own stream per epoch, so nobody else can change it."""

from __future__ import annotations

import numpy as np

from equipoise.core.streams import stream
from equipoise.core.values import Indices


def batches(n_samples: int, size: int, seed: int, epoch: int, client: int) -> list[Indices]:
    """The epoch's batches. The last one is kept; a last image on its own joins the batch before it, because
    BatchNorm cannot be trained on one.

    >>> [len(batch) for batch in batches(65, 32, seed=0, epoch=0, client=0)]
    [32, 33]
    """
    order = stream(seed, "batches", epoch, client).permutation(n_samples)
    cuts = list(range(size, n_samples, size))
    if len(cuts) > 0 and size > 1 and n_samples - cuts[-1] == 1:
        cuts.pop()
    return np.split(order, cuts)
