"""The items that protocol `uni100` ranks the target against: the same list in every round and for every method.

    candidates_u = n items, uniform without replacement over {items that user u never met}

"Never" covers the whole history, so no list holds a target. A list depends on the seed, the user's own id and the items
that this user has not met; other users' draws do not affect it. Source: ours.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.streams import stream
from equipoise.core.values import Indices
from equipoise.data.interactions import Interactions


def candidates(data: Interactions, seed: int, n: int = 100) -> Indices | None:
    """Ascending item numbers, int64 [U, n]; None where a user has fewer than n unmet items."""
    if shortage(data, n):
        return None
    drawn = np.empty((data.n_users, n), dtype=np.int64)
    for user in range(data.n_users):
        is_new = np.ones(data.n_items, dtype=np.bool_)
        is_new[data.history(user)] = False
        unmet = np.flatnonzero(is_new)
        draw = stream(seed, "candidates", str(data.user_ids[user]))
        drawn[user] = np.sort(unmet[draw.choice(len(unmet), n, replace=False, shuffle=False)])
    return drawn


def shortage(data: Interactions, n: int = 100) -> str | None:
    """A message that names the user with too few unmet items; None where every user has enough.

    A shorter list would be another protocol, and without such users it would be another test set. So `uni100` is then
    not reported at all."""
    left = [data.n_items - len(np.unique(data.history(user))) for user in range(data.n_users)]
    user = int(np.argmin(left))
    if left[user] >= n:
        return None
    who = f"user {data.user_ids[user]} has met all but {left[user]} of {data.n_items} items"
    return f"uni{n} is left out, everybody is ranked in the whole catalogue alone: {who}"
