"""A stream slice by slice, and what a change of interest costs those who have one.

    aligned_k = mean hits of the users with an alarm, k slices after their first one,   k = −3, −2, …
    level = mean of aligned_−3 … aligned_−1        drop = level − aligned_0        back: k with aligned_k ≥ 0.95·level

Everybody's change is moved to one place, so that users who change at different times add up.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from equipoise.evaluate.drift import recovery
from equipoise.store import metrics
from equipoise.store.records import Run
from equipoise.store.transact import Store

HIT, ALARM = "hit@10/full", "drift"
BEFORE = 3
"""Slices that give the level."""
SHOWN = {
    "hr@10/full": "hr@10/full",
    "drifted": "hr@10/full/drifted",
    "steady": "hr@10/full/steady",
    "itempop": "hr@10/full/itempop",
    "chance": "hr@10/full/chance",
    "alarms": "drift/users",
}


def stream(store: Store, run: Run) -> dict[str, Any] | None:
    """Of a run whose data is split into slices: figures of each that was scored, and what alarms cost."""
    if run.config["data"].get("split") != "slices":
        return None
    found: dict[int, dict[str, float]] = {}
    for row in metrics.rows(store, run.run_id, names=list(SHOWN.values()), client="server"):
        found.setdefault(row.step, {})[row.name] = row.value
    slices = [{key: of.get(name) for key, name in SHOWN.items()} for _, of in sorted(found.items())]
    return {"slices": slices, "change": _change(store, run)}


def _change(store: Store, run: Run) -> dict[str, Any] | None:
    """None where nobody has an alarm with enough slices before it."""
    hits: dict[int, dict[int, float]] = {}
    alarms: dict[int, int] = {}
    for row in metrics.rows(store, run.run_id, names=[HIT, ALARM]):
        if row.client is None:
            continue
        if row.name == HIT:
            hits.setdefault(row.client, {})[row.step] = row.value
        elif row.value:
            alarms.setdefault(row.client, row.step)
    aligned = aligned_at(hits, alarms)
    users = len(aligned.get(0, ()))
    if not all(aligned.get(k) for k in range(-BEFORE, 1)):
        return None
    after = [k for k in range(max(aligned) + 1) if k in aligned]
    values = [fmean(aligned[k]) for k in [*range(-BEFORE, 0), *after]]
    cost = recovery(values, BEFORE, BEFORE)
    return {"users": users, "level": cost.level, "drop": cost.drop, "back": cost.rounds}


def aligned_at(hits: dict[int, dict[int, float]], alarms: dict[int, int]) -> dict[int, list[float]]:
    """Hits of the users with an alarm by slices since it; users are left out who were not scored just before it.

    >>> aligned_at({7: {9: 0.4, 19: 0.6, 29: 0.2, 39: 0.0}, 8: {9: 1.0}}, {7: 39})
    {-3: [0.4], -2: [0.6], -1: [0.2], 0: [0.0]}
    """
    steps = sorted({step for of in hits.values() for step in of})
    found: dict[int, list[float]] = {}
    for user, alarm in alarms.items():
        at = steps.index(alarm) if alarm in hits.get(user, {}) else -1
        if at < BEFORE or not all(step in hits[user] for step in steps[at - BEFORE : at]):
            continue
        for k, step in enumerate(steps[at - BEFORE :], -BEFORE):
            if step in hits[user]:
                found.setdefault(k, []).append(hits[user][step])
    return found
