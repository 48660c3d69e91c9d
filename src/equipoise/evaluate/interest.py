"""How far the items of a slice lie from what the user met before.

    away_us = −⟨c_us, ĉ_u,<s⟩        c: mean feature row of a slice, ĉ: direction of all earlier ones

The mean over all items is subtracted from feature rows, which are then scaled to length 1. A user whose interest does
not change has a steady, negative value. A change of interest at right angles to the old one raises it to 0. The measure
needs no model, so it exists from the first slices on, and it uses the user's own items only. Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from equipoise.core.values import Floats, Indices, Mask
from equipoise.data.interactions import Features, Interactions

BEFORE = 2
"""Number of earlier items that are needed for a direction."""


def away(features: Mapping[str, Features], data: Interactions, slices: Indices) -> tuple[Floats, Mask]:
    """Values [U, S] for slices [U, S + 1], and where they exist: the slice and the time before it both hold items."""
    rows = np.concatenate([centred(table) for table in features.values()], axis=1)
    n_slices = slices.shape[1] - 1
    values, seen = np.zeros((data.n_users, n_slices)), np.zeros((data.n_users, n_slices), dtype=np.bool_)
    for user in range(data.n_users):
        first = slices[user, 0]
        own = rows[data.history(user)[first : slices[user, -1]]]
        sums = np.concatenate([np.zeros((1, own.shape[1])), own.cumsum(0)])[slices[user] - first]
        sizes, before = np.diff(slices[user]), slices[user, :-1] - first
        seen[user] = (sizes > 0) & (before >= BEFORE)
        lengths = np.linalg.norm(sums[:-1], axis=1) * np.maximum(sizes, 1)
        values[user] = -(np.diff(sums, axis=0) * sums[:-1]).sum(1) / np.where(lengths > 0, lengths, 1)
    return values * seen, seen


def centred(table: Features) -> Floats:
    """Rows minus their mean, scaled to length 1; 0 where an item has no features."""
    rows = (table.rows - table.rows[table.present].mean(0)) * table.present[:, None]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Floats = rows / np.where(norms > 0, norms, 1)
    return scaled
