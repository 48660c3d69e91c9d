"""Choose the users of a run: all, the most active, or a random draw.

    top     the `users` users with the most interactions; at the cut, ties go to the lower user id
    random  `users` users without repetition, from a stream of `subset_seed`

The draw has its own seed, not the run's. Users are the clients and their items are the catalogue, so another
draw is another problem with another chance level; with one draw, the runs of a study differ by their seed alone and
differences between methods can be paired. To average over draws, make `data.subset_seed` an axis of the sweep.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.streams import stream
from equipoise.core.values import Indices
from equipoise.data.interactions import Interactions


def chosen_users(lengths: Indices, options: InteractionOptions) -> Indices:
    """The users to keep, in order; users without interactions are left out."""
    there = np.flatnonzero(lengths)
    if options.subset == "all":
        return there
    count = options.users
    assert count is not None, "the options ask for a number with a subset"
    if count > len(there):
        what = f"data.users={count} asks for more users than there are: {len(there)}"
        raise DataError(what, where="data.users", fix=f"set data.users to {len(there)} or less, or data.subset=all")
    if options.subset == "top":
        return most_active(lengths, count)
    return random_users(there, count, options.subset_seed)


def most_active(lengths: Indices, count: int) -> Indices:
    """The `count` users with the longest histories; ties go to the lower id."""
    longest_first = np.argsort(-lengths, kind="stable")
    return np.sort(longest_first[:count])


def random_users(users: Indices, count: int, seed: int) -> Indices:
    return np.sort(stream(seed, "subset").choice(users, count, replace=False))


def keep_users(interactions: Interactions, kept: Indices, *notes: str) -> Interactions:
    """The same histories without the other users, and without items that only those had."""
    lengths = interactions.lengths[kept]
    mask = np.isin(np.repeat(np.arange(interactions.n_users), interactions.lengths), kept)
    items, item_at = np.unique(interactions.items[mask], return_inverse=True)
    return replace(
        interactions,
        items=item_at.astype(np.int64),
        bounds=np.concatenate([[0], np.cumsum(lengths)]),
        times=None if interactions.times is None else interactions.times[mask],
        user_ids=interactions.user_ids[kept],
        item_ids=interactions.item_ids[items],
        notes=(*interactions.notes, *notes),
        changes=interactions.changes[kept] if len(interactions.changes) else interactions.changes,
    )
