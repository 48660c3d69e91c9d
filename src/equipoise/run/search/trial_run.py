"""One run of a trial, in a worker: it is started or resumed, watched on validation, and ended early if it is hopeless.

After each scored checkpoint its validation curve is held against those of earlier trials with the same random seed,
at the same checkpoint. A hopeless run ends as `stopped`, with an event `pruned`.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.core.errors import EquipoiseError, Halted
from equipoise.core.values import Event
from equipoise.run.announce import Membership
from equipoise.run.build import Federation
from equipoise.run.session import resume, start
from equipoise.run.state import Record
from equipoise.run.watch import Nobody
from equipoise.store import read, write
from equipoise.store.database import Store, open_store
from equipoise.store.validation import Curve, validation_curve

PRUNED = "pruned"


class PruningWatch(Nobody):
    """Ends a run that is hopeless beside its rivals."""

    def __init__(self, store: Store, search: str, trial: dict[str, Any]) -> None:
        self.store, self.search, self.number = store, search, trial["number"]
        self.rivals = [dict(map(tuple, rival)) for rival in trial["rivals"]]
        self.run_id = ""
        self.steps = 0
        self.is_pruned = False

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        """A run that was killed between a checkpoint and what was to be decided there has it decided now."""
        self.run_id, self.steps = run_id, federation.config.steps
        if first > 0:
            self._decide(first - 1)

    def checkpoint(self, record: Record) -> None:
        if not any(event.kind == "stopped-early" for event in record.events):
            self._decide(record.step)

    def _decide(self, step: int) -> None:
        curve = validation_curve(self.store, read.find_run(self.store, self.run_id)) if self.rivals else {}
        if step in curve and step + 1 < self.steps and _is_hopeless(self.rivals, curve):
            self.is_pruned = True
            text = f"trial {self.number} of '{self.search}' is below the median of {len(self.rivals)} others on"
            text += f" validation, {curve[step]:.4g} at checkpoint {step + 1} of {self.steps}"
            detail = {"search": self.search, "trial": self.number, "value": curve[step]}
            write.add_events(self.store, self.run_id, [Event("pruned", text, step, detail=detail)])
            raise Halted(f"pruned: {text}", fix=f"`equipoise resume {self.run_id}` goes on with it all the same")


def _is_hopeless(rivals: list[Curve], curve: Curve) -> bool:
    from equipoise.run.search.optuna_study import is_hopeless

    return is_hopeless(rivals, curve)


def run_trial(order: dict[str, Any]) -> dict[str, Any]:
    """{state, run_id, error, seconds}; the test set's figures are in the store, and not in here."""
    began, found = time.monotonic(), {"run_id": order["run_id"], "error": None}
    with open_store(order["store"]) as store:
        watch = PruningWatch(store, order["sweep"], order["trial"])
        try:
            _go_on(store, order, watch)
            found |= {"state": "done", "run_id": watch.run_id or order["run_id"]}
        except EquipoiseError as error:
            state = PRUNED if watch.is_pruned else "failed"
            found |= {"state": state, "run_id": watch.run_id or order["run_id"], "error": str(error)}
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            found |= {"state": "failed", "run_id": watch.run_id or order["run_id"], "error": what}
    return {**found, "seconds": time.monotonic() - began}


def _go_on(store: Store, order: dict[str, Any], watch: PruningWatch) -> None:
    folder = Path(order["data_path"]) if order["data_path"] else None
    if order["run_id"] is None:
        member = Membership(order["sweep"], order["cell"])
        start(store, Request(check(order["config"]), folder), watch, member)
        return
    run = read.find_run(store, order["run_id"])
    if run.status == "stopped" and math.isfinite(pruned_at(store, run.run_id, (watch.search, watch.number))):
        watch.is_pruned = True  # by this trial; another search, or a plain sweep, would go on with it
        raise Halted(run.error or PRUNED)
    resume(store, run, watch, folder)


def pruned_at(store: Store, run_id: str, trial: tuple[str, int]) -> float:
    """The step at which that trial, (search, number), was ended by its pruner; infinite if it was not in this run."""
    events = [at.event for at in read.events(store, run_id) if at.event.kind == PRUNED]
    mine = [each.step for each in events if (each.detail["search"], each.detail["trial"]) == trial]
    return math.inf if not mine or mine[0] is None else mine[0]
