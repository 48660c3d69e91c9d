"""An excerpt of a run's numbers that is quick to read: thinned checkpoints, the server and the first clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from equipoise.diagnose.recording import SERVER, Curve, Recording
from equipoise.diagnose.stored import facts_of
from equipoise.report.figure import thinned
from equipoise.store import read
from equipoise.store.metrics import recorded_names, recorded_steps, values_at
from equipoise.store.records import Run
from equipoise.store.transact import Store

STEPS, CLIENTS = 100, 20
LEFT_OUT = ("rank/", "hash/", "grad/unreached/")
"""Names that no chart of the dashboard shows."""


@dataclass
class Series:
    """A curve that grows."""

    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, step: int, value: float) -> None:
        self.steps.append(step)
        self.values.append(value)


def excerpt(store: Store, run: Run) -> Recording:
    """For charts: at most 100 checkpoints at which the headline was scored, and 20 clients."""
    names = [name for name in recorded_names(store, run.run_id) if not name.startswith(LEFT_OUT)]
    known = recorded_steps(store, run.run_id, run.headline) or recorded_steps(store, run.run_id, "steps")
    steps = [known[i] for i in thinned(len(known), STEPS)] if known else []
    found: dict[str, dict[int, Series]] = {}
    for name, owner, step, value in values_at(store, run.run_id, names, steps, range(SERVER, CLIENTS)):
        found.setdefault(name, {}).setdefault(owner, Series()).add(step, value)
    events = [recorded.event for recorded in read.events(store, run.run_id)]
    partition = read.partition(store, run.partition) if run.partition else None
    return Recording(run.run_id, curves_of(found), facts_of(run, partition, events), events)


def curves_of(found: Mapping[str, Mapping[int, Series]]) -> dict[str, dict[int, Curve]]:
    return {
        name: {
            owner: Curve(None if owner == SERVER else owner, np.array(series.steps), np.array(series.values))
            for owner, series in sorted(by.items())
        }
        for name, by in found.items()
    }


def curve_of(store: Store, run_id: str, name: str, *, mean: bool = False) -> Curve:
    """The server's curve, thinned; or the mean over the first clients."""
    known = recorded_steps(store, run_id, name)
    steps = [known[i] for i in thinned(len(known), STEPS)] if known else []
    owners = range(CLIENTS) if mean else (SERVER,)
    at: dict[int, list[float]] = {}
    for _, _, step, value in values_at(store, run_id, [name], steps, owners):
        if np.isfinite(value):
            at.setdefault(step, []).append(value)
    ordered = sorted(at)
    return Curve(None, np.array(ordered, dtype=np.int64), np.array([np.mean(at[step]) for step in ordered]))
