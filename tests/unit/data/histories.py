"""Small sets of interactions written out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.config.blocks import InteractionOptions
from equipoise.data.interactions import Interactions
from equipoise.data.rows import InteractionRows, interactions_of, rows_of

DEFAULT = InteractionOptions()


def rows(*lines: tuple[object, object, float], timed: bool = True) -> InteractionRows:
    """(user, item, moment) in file order."""
    users, items, order = (np.array(column) for column in zip(*lines, strict=True))
    return rows_of(users, items, order, order if timed else None, "here")


def read(*lines: tuple[object, object, float], timed: bool = True, **options: object) -> Interactions:
    return interactions_of("toy", rows(*lines, timed=timed), InteractionOptions(**options))


def of_histories(*histories: Sequence[int], times: Sequence[Sequence[int]] | None = None) -> Interactions:
    """Users 0, 1, … with these items; item ids are the numbers themselves, whichever of them occur."""
    items, bounds = np.concatenate([np.array(h) for h in histories]), np.cumsum([0, *map(len, histories)])
    ids, at = np.unique(items, return_inverse=True)
    moments = None if times is None else np.concatenate([np.array(t) for t in times]).astype(np.int64)
    return Interactions("toy", at.astype(np.int64), bounds, moments, np.arange(len(histories)), ids)


def named(interactions: Interactions) -> dict[object, list[object]]:
    """{user: items} by their own names."""
    return {
        interactions.user_ids[u].item(): interactions.item_ids[interactions.history(u)].tolist()
        for u in range(interactions.n_users)
    }
