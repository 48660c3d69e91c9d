"""What every set of labelled samples promises: `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.blocks import SampleOptions
from equipoise.core.registry import DATASETS
from equipoise.data.splits import load_labelled, load_splits
from equipoise.testing.small import untouched_rng


def check_dataset(name: str, folder: Path | None = None, **settings: Any) -> None:
    """Check that the set is well formed, the same every time, and can be split; `folder` holds its files."""
    options = DATASETS.find(name).options.model_validate({"name": name, **settings})
    assert isinstance(options, SampleOptions), f"the options of '{name}' must extend those of a kind with labels"
    with untouched_rng():
        first, again = (load_labelled(options, folder) for _ in range(2))
    for part in ("train", "test"):
        ours, theirs = (getattr(each, part) for each in (first, again))
        is_same = np.array_equal(ours.inputs, theirs.inputs) and np.array_equal(ours.labels, theirs.labels)
        assert is_same, f"{part} is another one when it is read again: draw from a stream of its own seed"
        assert len(ours) >= 1, f"{part} is empty"
    assert len(set(first.train.labels.tolist())) > 1, "all training samples are of one class"
    splits = load_splits(options, 0, folder)
    held = [len(splits.train), len(splits.validation), len(splits.public)]
    assert sum(held) <= len(first.train), f"splits of {held} samples out of {len(first.train)}"
    assert splits.inputs.prepare(splits.train.inputs[:2]).isfinite().all(), (
        "samples enter the network as NaN or infinity"
    )
