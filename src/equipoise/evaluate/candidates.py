"""Who the next item is ranked against in protocol `uni100`: the same list in every round and for every method.

    candidates_u = n items, uniform without replacement over {items that user u never met}

"Never" is in the whole history, so no list holds a target. A list depends on the seed, the user's own name and what
that user has not met; nobody else's draws matter. Source: ours.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.errors import DataError
from equipoise.core.streams import stream
from equipoise.core.values import Indices
from equipoise.data.interactions import Interactions


def candidates(data: Interactions, seed: int, n: int = 100) -> Indices:
    """Ascending item numbers: int64 [U, n]."""
    drawn = np.empty((data.n_users, n), dtype=np.int64)
    for user in range(data.n_users):
        is_new = np.ones(data.n_items, dtype=np.bool_)
        is_new[data.history(user)] = False
        unmet = np.flatnonzero(is_new)
        if len(unmet) < n:
            raise _too_few(data, user, len(unmet), n)
        draw = stream(seed, "candidates", str(data.user_ids[user]))
        drawn[user] = np.sort(unmet[draw.choice(len(unmet), n, replace=False, shuffle=False)])
    return drawn


def _too_few(data: Interactions, user: int, n_unmet: int, n: int) -> DataError:
    what = f"there are {n_unmet} items that this user has not met, and {n} candidates are asked for"
    fix = "leave this user out, or bring more items: 1:100 needs a hundred that a user has not met"
    return DataError(what, where=f"{data.name}, user {data.user_ids[user]} of {data.n_items} items", fix=fix)
