"""The findings of a run: those that were stored at its end, or, while it goes on, those of the live rules so far.

A run that goes on is examined as its guard would: the server's numbers and those of the first clients, again whenever
it has grown by a fifth or by a twentieth of its plan. What was read is kept: only new numbers are read.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from equipoise.dashboard.background import Background
from equipoise.dashboard.excerpt import GrowingCurve, curves_of
from equipoise.diagnose.examine import examine, live
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.recording import SERVER, Recording
from equipoise.diagnose.stored import facts_of, stored
from equipoise.store import read
from equipoise.store.metrics import recorded_names, values_at
from equipoise.store.records import Run
from equipoise.store.transact import Store

LOOKS, GROWTH = 20, 1.2
"""A run is looked at again after a twentieth of its checkpoints, and before that when it has so many times as many."""
WATCHED, NUMBERS = 20, 150_000
"""Clients that are looked at; fewer where that would be more numbers than these."""
KEPT = 64
"""Runs whose numbers are kept."""


@dataclass(frozen=True)
class Examined:
    """The findings, most severe first, and the newest checkpoint that was looked at; None: all of them."""

    findings: Sequence[Finding] = ()
    step: int | None = None
    is_complete: bool = True


@dataclass
class _Seen:
    last: int = -1
    curves: dict[str, dict[int, GrowingCurve]] = field(default_factory=dict)


class Verdicts:
    def __init__(self, store: Store, background: Background) -> None:
        self.store, self.background = store, background
        self._seen: OrderedDict[str, _Seen] = OrderedDict()

    def of(self, run: Run, last: int | None, language: str) -> Examined:
        """What is known now. `last` is the run's newest checkpoint."""
        about, begun = (run.run_id, "findings", language), Examined(is_complete=False)
        if run.status in {"running", "killed"}:
            return self.background.answer(about, _due(run, last), lambda: self._so_far(run, last, language), begun)
        if language == "en":
            return Examined([Finding(**body) for body in read.findings(self.store, run.run_id)])
        return self.background.answer(about, run.updated, lambda: self._in_hindsight(run, language), begun)

    def _in_hindsight(self, run: Run, language: str) -> Examined:
        return Examined(examine(stored(self.store, run), run.config.get("limits"), language).findings)

    def _so_far(self, run: Run, last: int | None, language: str) -> Examined:
        return Examined(live(self._recording(run, last), run.config.get("limits"), language), last)

    def _recording(self, run: Run, last: int | None) -> Recording:
        """Only the thread in the background comes here."""
        seen = self._seen.setdefault(run.run_id, _Seen())
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        newest = -1 if last is None else last
        if newest < seen.last:  # the run was taken back to a checkpoint
            seen.last, seen.curves = -1, {}
        names = recorded_names(self.store, run.run_id)
        steps = range(seen.last + 1, newest + 1)
        watched = max(3, min(WATCHED, NUMBERS // max(1, len(names) * (newest + 1))))
        for name, owner, step, value in values_at(self.store, run.run_id, names, steps, range(SERVER, watched)):
            seen.curves.setdefault(name, {}).setdefault(owner, GrowingCurve()).add(step, value)
        seen.last = newest
        events = [recorded.event for recorded in read.events(self.store, run.run_id)]
        partition = read.partition(self.store, run.partition) if run.partition else None
        return Recording(run.run_id, curves_of(seen.curves), facts_of(run, partition, events), events)


def _due(run: Run, last: int | None) -> int:
    """Changes when the run has gone on far enough to look again."""
    steps = int(run.config.get("rounds") or run.config.get("checkpoints") or LOOKS)
    return -1 if last is None else (last + 1) // max(1, steps // LOOKS) + int(math.log(last + 1, GROWTH))
