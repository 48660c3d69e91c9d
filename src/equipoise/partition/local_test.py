"""Hold out a share of every client's own images, for a test of its own.

    of client k's n_k images:  max(1, round(share·n_k)), at most n_k − 1, drawn from stream(seed, "local-test", k)

Nobody trains on them. The partition and its fingerprint stay those of all images that a client owns. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.core.errors import PartitionError
from equipoise.core.streams import stream
from equipoise.core.values import Indices
from equipoise.partition.divide import Partition


def local_tests(partition: Partition, share: float, seed: int) -> tuple[Sequence[Indices], Sequence[Indices]]:
    """What each client trains on, and what it is tested on; without a share, all and nothing."""
    if share == 0:
        return partition.indices, ()
    where = "data.local_test"
    if partition.overlaps:
        what = f"clients of partition '{partition.name}' share images: what one holds out, another trains on"
        raise PartitionError(what, where=where, fix="set data.local_test=0, or choose a splitter without overlap")
    small = [client for client, index in enumerate(partition.indices) if len(index) < 2]
    if small:
        what = f"{len(small)} clients have one image, as client {small[0]}: it cannot be trained on and tested on"
        raise PartitionError(what, where=where, fix="set partition.min_size=2, or data.local_test=0")
    held = [_drawn(index, share, client, seed) for client, index in enumerate(partition.indices)]
    kept = [np.setdiff1d(index, out) for index, out in zip(partition.indices, held, strict=True)]
    return kept, held


def _drawn(index: Indices, share: float, client: int, seed: int) -> Indices:
    count = min(max(1, round(share * len(index))), len(index) - 1)
    return np.sort(stream(seed, "local-test", client).choice(index, count, replace=False))
