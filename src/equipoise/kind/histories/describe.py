"""Describes a set of interactions: counts beside the published ones, histories, split and feature checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.blocks import InteractionOptions
from equipoise.data.held_out import Histories, hold_out
from equipoise.data.interactions import Interactions
from equipoise.data.known import KnownInteractions
from equipoise.features.load import item_features


def describe_interactions(
    interactions: Interactions, options: InteractionOptions, known: KnownInteractions, folder: Path | None
) -> dict[str, Any]:
    """What `equipoise data check` prints for interactions; features are checked on the items that the split keeps."""
    histories = hold_out(interactions, options)
    features = item_features(options, histories.interactions, folder)
    checks = {name: modality.check for name, modality in features.items()}
    counts = _counts(interactions, known)
    return {
        "counts": counts,
        "is_complete": all(line["count"] == line["published"] for line in counts.values()),
        "lengths": _lengths(interactions),
        "density": len(interactions.items) / (interactions.n_users * interactions.n_items),
        "times": _times(interactions),
        "split": _split(histories),
        "features": {name: check.as_record() for name, check in checks.items() if check is not None},
        "notes": list(histories.interactions.notes),
    }


def _counts(interactions: Interactions, known: KnownInteractions) -> dict[str, dict[str, int | None]]:
    return {
        "users": {"count": interactions.n_users, "published": known.users},
        "items": {"count": interactions.n_items, "published": known.items},
        "interactions": {"count": len(interactions.items), "published": known.interactions},
    }


def _lengths(interactions: Interactions) -> dict[str, float]:
    n = interactions.lengths
    return {"min": int(n.min()), "median": float(np.median(n)), "mean": float(n.mean()), "max": int(n.max())}


def _times(interactions: Interactions) -> dict[str, Any] | None:
    """First and last timestamp, and how many neighbours in a history share one; None if timestamps are unknown."""
    times = interactions.times
    if times is None:
        return None
    is_inside = np.ones(len(times) - 1, dtype=bool)
    is_inside[interactions.bounds[1:-1] - 1] = False
    ties = np.diff(times)[is_inside] == 0
    return {"first": int(times.min()), "last": int(times.max()), "ties": float(ties.mean())}


def _split(histories: Histories) -> dict[str, Any]:
    """How many interactions are trained on, and how many users have a target; with slices, interactions in each."""
    if histories.slices is not None:
        return {"name": histories.split, "slices": np.diff(histories.slices, axis=1).sum(axis=0).tolist()}
    targets = {"validation": histories.validation_at, "test": histories.test_at}
    n_targets = {part: int((at >= 0).sum()) for part, at in targets.items()}
    return {"name": histories.split, "train": int(histories.train_end.sum()), **n_targets}
