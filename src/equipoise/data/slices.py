"""A stream of interactions, cut into slices of time: where the cuts are, which slice a round trains on, what is scored.

    slices [U, S + 1]        slice s of user u = history[slices[u, s] : slices[u, s + 1]]

A run of R rounds trains on slices 0 … S − 2 in order, for R/(S − 1) rounds each. Slice s + 1 is scored before any round
trains on it. `data.held_out` writes the cuts of a data set into its histories. Source: ours.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.values import Indices


def equal_moments(times: Indices, count: int) -> tuple[int, ...]:
    """The moments that cut all interactions into `count` slices of about the same size.

    >>> equal_moments(np.arange(10), 5)
    (2, 4, 6, 8)
    """
    ordered = np.sort(times)
    moments = ordered[np.arange(1, count) * len(times) // count]
    if not (np.diff(moments, prepend=ordered[0]) > 0).all():
        what = f"{len(np.unique(times))} different moments cannot be cut into {count} slices that all hold something"
        raise DataError(what, where=f"data.slices={count}", fix="fewer data.slices, or data.cut=positions")
    return tuple(int(moment) for moment in moments)


def equal_parts(lengths: Indices, count: int) -> list[Indices]:
    """The count − 1 inner cuts [U] that divide each user's own history into `count` equal parts."""
    return [lengths * k // count for k in range(1, count)]


def slice_of(step: int, rounds: int, slices: int) -> int:
    """The slice that a round trains on: rounds are spread evenly over all slices but the last.

    >>> [slice_of(step, rounds=6, slices=4) for step in range(6)]
    [0, 0, 1, 1, 2, 2]
    """
    return step * (slices - 1) // rounds


def first_positions(slices: Indices, number: int, each: int) -> tuple[Indices, Indices]:
    """Users [N] and positions [N] of the first `each` items of every user's slice.

    Position 0 is left out: no item precedes it, so nothing can predict it.

    >>> users, at = first_positions(np.array([[0, 3, 9], [0, 0, 2]]), 1, 2)
    >>> users.tolist(), at.tolist()
    ([0, 0, 1], [3, 4, 1])
    """
    first, last = slices[:, number], slices[:, number + 1]
    at = [np.arange(max(1, a), min(b, a + each)) for a, b in zip(first, last, strict=True)]
    users: Indices = np.repeat(np.arange(len(at)), [len(part) for part in at])
    return users, np.concatenate(at)
