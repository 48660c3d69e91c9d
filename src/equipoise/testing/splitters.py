"""What every splitter promises: `partition`."""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.partition.check import declares_overlap
from equipoise.partition.divide import divide
from equipoise.testing.small import untouched_rng

CASES = ((2, 30), (5, 400), (20, 1000))
"""Number of clients, and of samples of ten classes."""


def check_splitter(name: str, **settings: Any) -> None:
    """Check that every sample has one client, every client its minimum, and only the seed decides."""
    for n_clients, n in CASES:
        options = SPLITTERS.find(name).options.model_validate({"name": name, "clients": n_clients, **settings})
        assert isinstance(options, PartitionOptions), f"the options of '{name}' must extend PartitionOptions"
        labels = stream(n, "labels").choice(10, n, p=np.arange(10, 0, -1) / 55)
        with untouched_rng():
            first = divide(labels, 10, options, seed=1)
        again = divide(labels, 10, options, seed=1).fingerprint
        assert first.fingerprint == again, "the same seed gives another split: draw from the generator that is given"
        assert len(first.indices) == n_clients, f"{len(first.indices)} clients instead of {n_clients}"
        sizes = [len(index) for index in first.counted]
        assert min(sizes) >= options.min_size, f"the smallest client has {min(sizes)} of {options.min_size}"
        if not declares_overlap(options):
            held = np.bincount(np.concatenate(first.indices), minlength=n)
            assert (held == 1).all(), f"{(held > 1).sum()} images have several clients, {(held == 0).sum()} have none"
