"""Turn the rows of a table into histories. Every reader of interactions passes its rows to `interactions_of`.

    rows → duplicates → users without moments → short users → subset → sorted by user, then order, then row

The remaining users and items are numbered in the order of their ids without gaps, so every item number was met by
somebody. Faulty rows are an error unless the options allow dropping them; what was dropped or sorted becomes a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.values import Indices, Mask
from equipoise.data.interactions import Ids, Interactions
from equipoise.data.subset import chosen_users

SHORTEST = 3
"""One interaction to learn from, one to choose by, one to report."""

SHOWN = 5


@dataclass(frozen=True)
class InteractionRows:
    """One interaction per row, as the file has them: users and items are places in `user_ids` and `item_ids`."""

    users: Indices
    items: Indices
    user_ids: Ids
    item_ids: Ids
    order: NDArray[Any]
    """The sort key of a history: moments or ranks. Equal values keep the order of the rows."""
    times: NDArray[np.float64]
    """Seconds; NaN where the moment is unknown."""
    where: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.users)

    def keep(self, mask: Mask, *notes: str) -> InteractionRows:
        columns = {name: getattr(self, name)[mask] for name in ("users", "items", "order", "times")}
        return replace(self, **columns, notes=(*self.notes, *notes))


def rows_of(
    users: Ids, items: Ids, order: NDArray[Any], times: NDArray[Any] | None, where: str, *notes: str
) -> InteractionRows:
    """Rows of four columns; `times` is None where only the order is known."""
    user_ids, user_at = np.unique(users, return_inverse=True)
    item_ids, item_at = np.unique(items, return_inverse=True)
    moments = np.full(len(users), np.nan) if times is None else times.astype(np.float64)
    return InteractionRows(user_at, item_at, user_ids, item_ids, order, moments, where, notes)


def interactions_of(name: str, rows: InteractionRows, options: InteractionOptions) -> Interactions:
    """The histories in these rows."""
    _require_some(rows, "there is no interaction")
    rows = _without_duplicates(rows, options)
    rows = _with_moments(rows, options)
    rows = _long_enough(rows, options)
    _require_order(rows)
    kept = chosen_users(np.bincount(rows.users, minlength=len(rows.user_ids)), options)
    return _sorted(name, rows.keep(np.isin(rows.users, kept)))


def _require_some(rows: InteractionRows, what: str) -> None:
    if not len(rows):
        raise DataError(what, where=rows.where, fix="check the file, and what data.* says may be dropped")


def _without_duplicates(rows: InteractionRows, options: InteractionOptions) -> InteractionRows:
    """The first of the rows that agree in user, item and moment (or rank)."""
    by = np.lexsort((rows.order, rows.items, rows.users))
    same = np.ones(len(rows) - 1, dtype=bool)
    for column in (rows.users, rows.items, rows.order):
        same &= column[by][1:] == column[by][:-1]
    again = by[1:][same]
    if not len(again):
        return rows
    user, item = rows.user_ids[rows.users[again[0]]], rows.item_ids[rows.items[again[0]]]
    if options.duplicates == "refuse":
        what = f"{len(again)} of {len(rows)} rows repeat another's user, item and time, as user {user}, item {item}"
        raise DataError(what, where=rows.where, fix="remove them, or set data.duplicates=drop")
    is_first = np.ones(len(rows), dtype=bool)
    is_first[again] = False
    return rows.keep(is_first, f"The reader dropped {counted(len(again), 'row')} that repeat another row.")


def _with_moments(rows: InteractionRows, options: InteractionOptions) -> InteractionRows:
    """Drop users with an unknown moment, if the options ask for it."""
    if options.untimed == "keep":
        return rows
    n_unknown = np.bincount(rows.users, np.isnan(rows.times), len(rows.user_ids))
    dropped = np.flatnonzero(n_unknown)
    kept = rows.keep(~np.isin(rows.users, dropped), *_dropped(len(dropped), "an interaction without a moment"))
    _require_some(kept, "no user has a moment for every interaction, and data.untimed=drop leaves nobody")
    return kept


def _long_enough(rows: InteractionRows, options: InteractionOptions) -> InteractionRows:
    lengths = np.bincount(rows.users, minlength=len(rows.user_ids))
    short = np.flatnonzero((lengths > 0) & (lengths < SHORTEST))
    if len(short) and options.short == "refuse":
        first = some([f"{rows.user_ids[user]} ({lengths[user]})" for user in short])
        what = f"{len(short)} of {np.count_nonzero(lengths)} users have fewer than {SHORTEST} interactions: {first}"
        raise DataError(what, where=rows.where, fix="set data.short=drop to leave them out")
    kept = rows.keep(~np.isin(rows.users, short), *_dropped(len(short), f"fewer than {SHORTEST} interactions"))
    _require_some(kept, f"no user has {SHORTEST} interactions, and data.short=drop leaves nobody")
    return kept


def _dropped(count: int, why: str) -> tuple[str, ...]:
    return (f"The reader dropped {counted(count, 'user')} with {why}.",) if count else ()


def some(names: Sequence[object]) -> str:
    """The first few names, and an ellipsis where there are more."""
    return ", ".join(str(name) for name in names[:SHOWN]) + (" …" if len(names) > SHOWN else "")


def counted(count: int, thing: str) -> str:
    """
    >>> counted(1, "user"), counted(1200, "row")
    ('1 user', '1200 rows')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _sorted(name: str, rows: InteractionRows) -> Interactions:
    """Stable: rows of equal order stay as they are in the file."""
    by = np.lexsort((rows.order, rows.users))
    n_moved = _out_of_order(rows)
    users, user_at = np.unique(rows.users[by], return_inverse=True)
    items, item_at = np.unique(rows.items[by], return_inverse=True)
    times = None if np.isnan(rows.times).any() else np.floor(rows.times[by]).astype(np.int64)
    moved = (f"The reader sorted the rows of {counted(n_moved, 'user')} by time.",) if n_moved else ()
    return Interactions(
        name,
        items=item_at.astype(np.int64),
        bounds=np.searchsorted(user_at, np.arange(len(users) + 1)),
        times=times,
        user_ids=rows.user_ids[users],
        item_ids=rows.item_ids[items],
        notes=(*rows.notes, *moved, *_tied(rows.users[by], rows.order[by])),
    )


def _require_order(rows: InteractionRows) -> None:
    one = np.empty(len(rows.user_ids), dtype=rows.order.dtype)
    one[rows.users] = rows.order
    if (rows.order == one[rows.users]).all():
        what = "there is no usable order: all interactions of each user have the same time"
        raise DataError(what, where=rows.where, fix="name a column of times or ranks with data.time")


def _tied(users: Indices, order: NDArray[Any]) -> tuple[str, ...]:
    """The users whose last interaction is decided by the order of the file; rows are sorted by user and time."""
    is_neighbour = users[1:] == users[:-1]
    is_tied = is_neighbour & (order[1:] == order[:-1])
    is_last = np.append(users[2:] != users[:-2], True)
    last = int((is_tied & is_last).sum())
    if not last:
        return ()
    told = f"The file's order decides which interaction of {counted(last, 'user')} is the last"
    return (f"{told}: {is_tied.sum()} of {is_neighbour.sum()} neighbours have the same time.",)


def _out_of_order(rows: InteractionRows) -> int:
    """How many users have a row that is older than the one above it."""
    as_filed = np.argsort(rows.users, kind="stable")
    users, order = rows.users[as_filed], rows.order[as_filed]
    is_older = (users[1:] == users[:-1]) & (order[1:] < order[:-1])
    return len(np.unique(users[1:][is_older]))
