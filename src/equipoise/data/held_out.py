"""Split each history into a training part and held-out targets, by position. A target's input is everything before it.

    leave-one-out   train = history[: n−2], validation target at n−2, test target at n−1
    temporal        t₁ = latest moment with at least `held_out` of all interactions at or after it, t₂ with half of it;
                    train = before t₁, validation target = first of t₁ ≤ t < t₂, test target = first of t ≥ t₂
    slices          S parts of each history, one after another: [:, 0] = 0, [:, S] = n

With slices a run is scored on a part before it trains on it. They are cut at S − 1 moments that all users share, so
that nothing trained on is later than anything scored, and each slice holds the same number of interactions: equal spans
of time would leave most of MovieLens in one slice. `cut: positions` gives each history S equal parts instead, for sets
without moments: causal for each user, but one user's slice may be later than another's. Source: ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.values import Indices
from equipoise.data.interactions import Interactions
from equipoise.data.rows import counted, some
from equipoise.data.slices import equal_moments, equal_parts
from equipoise.data.subset import keep_users

NOBODY = -1
"""The position of a target that a user does not have."""


@dataclass(frozen=True)
class Histories:
    """Interactions and where each history is cut: positions counted from the start of the user's own history."""

    interactions: Interactions
    split: str
    train_end: Indices
    """[U] training reads history[: train_end]; with slices, the first slice, which is never scored."""
    validation_at: Indices
    """[U] position of the validation target, −1 where there is none."""
    test_at: Indices
    """[U] position of the test target, −1 where there is none."""
    slices: Indices | None = None
    """[U, S+1] slice s of user u is history[slices[u, s] : slices[u, s+1]]."""
    moments: tuple[int, ...] = ()
    """Where all users were cut, in the seconds of the interactions."""


def hold_out(interactions: Interactions, options: InteractionOptions) -> Histories:
    """The split that the options name. Users without a training part are an error, or dropped if options allow it."""
    makers = {"leave-one-out": _leave_one_out, "temporal": _temporal, "slices": _slices}
    histories = makers[options.split](interactions, options)
    notes = () if histories.slices is not None else tuple(_told(histories))
    told = replace(histories.interactions, notes=(*histories.interactions.notes, *notes))
    return replace(histories, interactions=told)


def _told(histories: Histories) -> Iterator[str]:
    """Notes about the split for the user."""
    alone = int((histories.train_end == 1).sum())
    if alone:
        left = f"The split left {counted(alone, 'user')} a single interaction"
        yield f"{left}: there is nothing to learn, they are scored."
    for part, at in (("validation", histories.validation_at), ("test", histories.test_at)):
        without = int((at == NOBODY).sum())
        if without:
            yield f"{without} of {len(at)} users have no {part} target, and do not count in its figures."
    again = sum(_met_before(histories, user) for user in range(len(histories.test_at)))
    if again:
        met = f"The test target of {counted(again, 'user')} is an item that was met before"
        yield f"{met}: it is ranked among items that were not, so it is easily found, and figures are too high."


def _met_before(histories: Histories, user: int) -> bool:
    history, at = histories.interactions.history(user), histories.test_at[user]
    return bool(at != NOBODY and history[at] in history[:at])


def _leave_one_out(interactions: Interactions, options: InteractionOptions) -> Histories:
    n = interactions.lengths
    return Histories(interactions, "leave-one-out", n - 2, n - 2, n - 1)


def _temporal(interactions: Interactions, options: InteractionOptions) -> Histories:
    first, second = two_moments(_moments(interactions, "temporal"), options.held_out)
    histories = _with_train(_cut_in_two(interactions, first, second), options)
    for part, at in (("validation", histories.validation_at), ("test", histories.test_at)):
        if (at == NOBODY).all():
            what = f"no user with something to train on has a {part} target"
            raise DataError(what, where=f"data.held_out={options.held_out}", fix="another data.held_out, or more users")
    return histories


def _cut_in_two(interactions: Interactions, first: int, second: int) -> Histories:
    n, before, later = interactions.lengths, _before(interactions, first), _before(interactions, second)
    validation = np.where(later > before, before, NOBODY)
    test = np.where(n > later, later, NOBODY)
    return Histories(interactions, "temporal", before, validation, test, moments=(first, second))


def two_moments(times: Indices, held_out: float) -> tuple[int, int]:
    """t₁ and t₂.

    >>> two_moments(np.arange(10), 0.4)
    (6, 8)
    """
    first, second = (_latest_with(times, share) for share in (held_out, held_out / 2))
    if not times.min() < first < second:
        n_moments = len(np.unique(times))
        what = f"no two moments hold out {held_out:.0%} of {len(times)} interactions and leave some to train on"
        where = f"data.held_out={held_out}; {n_moments} different moments, in whole seconds"
        fix = "another data.held_out, times in a finer unit, or data.split=leave-one-out"
        raise DataError(what, where=where, fix=fix)
    return first, second


def _latest_with(times: Indices, share: float) -> int:
    """The latest moment with at least this share of all interactions at or after it."""
    count = max(1, math.ceil(share * len(times) - 1e-9))
    return int(np.sort(times)[-count])


def _with_train(histories: Histories, options: InteractionOptions) -> Histories:
    """Keep users with a training part; the cut moments stay those of all users."""
    interactions = histories.interactions
    late = np.flatnonzero(histories.train_end == 0)
    if not len(late):
        return histories
    if options.short == "refuse":
        what = f"{len(late)} of {len(histories.train_end)} users have nothing before the first moment"
        what += f" ({histories.moments[0]}): {some(interactions.user_ids[late].tolist())}"
        raise DataError(what, where="data.split=temporal", fix="set data.short=drop to leave them out")
    note = f"The split dropped {counted(len(late), 'user')} with nothing before its first moment."
    kept = keep_users(interactions, np.flatnonzero(histories.train_end > 0), note)
    return _cut_in_two(kept, *histories.moments)


def _slices(interactions: Interactions, options: InteractionOptions) -> Histories:
    n, count = interactions.lengths, options.slices
    if options.cut == "positions":
        moments: tuple[int, ...] = ()
        inner = equal_parts(n, count)
    else:
        moments = equal_moments(_moments(interactions, "slices"), count)
        inner = [_before(interactions, moment) for moment in moments]
    bounds = np.stack([np.zeros_like(n), *inner, n], axis=1)
    nobody = np.full_like(n, NOBODY)
    return Histories(interactions, "slices", bounds[:, 1], nobody, nobody, bounds, moments)


def _moments(interactions: Interactions, split: str) -> Indices:
    if interactions.times is None:
        what = f"the {split} split needs the moment of every interaction; '{interactions.name}' has only their order"
        fix = "a clock that all users share; data.untimed=drop keeps the users whose every moment is known, if any"
        other = "data.split=leave-one-out" if split == "temporal" else "data.cut=positions"
        raise DataError(what, where=f"data.split={split}", fix=f"{fix}, or {other}")
    return interactions.times


def _before(interactions: Interactions, moment: int) -> Indices:
    """[U] how many interactions each user has before the moment."""
    assert interactions.times is not None
    is_before = (interactions.times < moment).astype(np.int64)
    count: Indices = np.add.reduceat(is_before, interactions.bounds[:-1])
    return count
