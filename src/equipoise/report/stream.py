"""Metrics of a stream slice by slice, and what a change of interest costs the users who have one.

    x_uk = hits of user u, k slices after its first alarm        level_u = mean of x_u,−3 … x_u,−1
    level = mean_u level_u        drop = level − mean_u x_u0
    back = the first k ≥ 0 at which mean x_uk ≥ 0.95·mean level_u, both over the users who are scored at k

Users are aligned at their first alarm, so that changes at different times can be averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from equipoise.store import metrics
from equipoise.store.records import Run
from equipoise.store.transact import Store

HIT, ALARM = "hit@10/full", "drift"
BEFORE, WITHIN = 3, 0.05
"""Slices that define the level, and the share of it that counts as back."""
Hits = Mapping[int, Mapping[int, float]]
"""User → slice → share of hits."""
SHOWN = {
    "hr@10/full": "hr@10/full",
    "drifted": "hr@10/full/drifted",
    "steady": "hr@10/full/steady",
    "markov": "hr@10/full/markov",
    "itempop": "hr@10/full/itempop",
    "chance": "hr@10/full/chance",
    "alarms": "drift/users",
}


def is_stream(run: Run) -> bool:
    return bool(run.config.get("data", {}).get("split") == "slices")


def stream(store: Store, run: Run) -> dict[str, Any] | None:
    """For a run on a stream: the metrics of each scored slice, and the cost of alarms."""
    if not is_stream(run):
        return None
    found: dict[int, dict[str, float]] = {}
    for row in metrics.rows(store, run.run_id, names=list(SHOWN.values()), client="server"):
        found.setdefault(row.step, {})[row.name] = row.value
    slices = [{key: of.get(name) for key, name in SHOWN.items()} for _, of in sorted(found.items())]
    return {"slices": slices, "change": _change(store, run)}


def _change(store: Store, run: Run) -> dict[str, Any] | None:
    hits: dict[int, dict[int, float]] = {}
    alarms: dict[int, int] = {}
    for row in metrics.rows(store, run.run_id, names=[HIT, ALARM]):
        if row.client is None:
            continue
        if row.name == HIT:
            hits.setdefault(row.client, {})[row.step] = row.value
        elif row.value:
            alarms.setdefault(row.client, row.step)
    return cost(aligned(hits, alarms))


def aligned(hits: Hits, alarms: Mapping[int, int]) -> Hits:
    """Hits by slices since a user's alarm; users that were not scored in the three slices before it are left out.

    >>> aligned({7: {9: 0.4, 19: 0.6, 29: 0.2, 39: 0.0}, 8: {9: 1.0}}, {7: 39})
    {7: {-3: 0.4, -2: 0.6, -1: 0.2, 0: 0.0}}
    """
    steps = sorted({step for of in hits.values() for step in of})
    places = {user: steps.index(at) for user, at in alarms.items() if at in hits.get(user, {})}
    found = {
        user: {k: hits[user][step] for k, step in enumerate(steps, -place) if k >= -BEFORE and step in hits[user]}
        for user, place in places.items()
    }
    return {user: of for user, of in found.items() if all(k in of for k in range(-BEFORE, 0))}


def cost(since: Hits) -> dict[str, Any] | None:
    """Level, drop and time of recovery; None if no alarm can be judged."""
    if not since:
        return None
    levels = {user: fmean(of[k] for k in range(-BEFORE, 0)) for user, of in since.items()}
    level, low = fmean(levels.values()), fmean(of[0] for of in since.values())
    after = sorted({k for of in since.values() for k in of if k >= 0})
    back = next((k for k in after if _is_back({u: of[k] for u, of in since.items() if k in of}, levels)), None)
    return {"users": len(since), "level": level, "drop": level - low, "back": back}


def _is_back(now: Mapping[int, float], levels: Mapping[int, float]) -> bool:
    return fmean(now.values()) >= (1 - WITHIN) * fmean(levels[user] for user in now)
