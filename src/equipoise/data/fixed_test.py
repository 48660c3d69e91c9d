"""Hold out a test set by a fixed draw, for sets that come without one.

    of each class c, in order:  round(share·n_c) images, drawn from stream(0, purpose);  at least 1, at most n_c − 1

The draw does not depend on the run's seed, so all runs of a study are tested on the same images.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.streams import stream
from equipoise.core.values import Images, Indices, Labels

SHARE = 0.2
"""Held out where no other share is asked for."""


def held_out(labels: Labels, n_classes: int, share: float, purpose: str) -> Indices:
    """Which samples are the test set, ascending."""
    rng = stream(0, purpose)
    chosen = [np.empty(0, dtype=np.int64)]
    for label in range(n_classes):
        owned = np.flatnonzero(labels == label)
        count = min(max(1, round(share * len(owned))), len(owned) - 1)
        chosen.append(rng.permutation(owned)[:count])
    return np.sort(np.concatenate(chosen))


def parted(images: Images, n_classes: int, share: float, purpose: str) -> tuple[Images, Images]:
    """Train and test."""
    test = held_out(images.labels, n_classes, share, purpose)
    return images.take(np.setdiff1d(np.arange(len(images)), test)), images.take(test)
