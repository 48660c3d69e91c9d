"""Runs the trials of a search, each one run per random seed, in the workers of a sweep.

    trial n is chosen when all trials up to n − window are over, and from those alone

The window is how many trials go on at a time when the search begins. So what is chosen does not depend on which of
them ends first: a search that is stopped, killed and started again goes on to the same table, however many workers
there are then. Scores are validation's; the numbers of the test set are not read here.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, StoreError
from equipoise.data.source import data_folder
from equipoise.run.cell_processes import Answer, CellWorkers
from equipoise.run.grid import Cell
from equipoise.run.placed import placed
from equipoise.run.places import Contents, run_of
from equipoise.run.search.optuna_study import Outcome, importance, suggested
from equipoise.run.search.plan import SearchPlan
from equipoise.run.search.trial_run import pruned_at
from equipoise.run.sweep import POLL
from equipoise.store import read, write
from equipoise.store.claims import Claims
from equipoise.store.database import Store
from equipoise.store.searches import (
    TrialRecord,
    best_trial,
    find_search,
    put_trial,
    set_importance,
    settings_text,
    trials,
)
from equipoise.store.validation import validation_curve, validation_score

RUN_APART = 1_000_000
"""A trial's second run begins at this checkpoint of its curve: no run has as many."""
FollowTrials = Callable[[Sequence[TrialRecord], int], None]
"""Called with the trials, and how many there will be, whenever one may have changed."""


def run_search(
    store: Store, location: str, plan: SearchPlan, workers: CellWorkers, follow: FollowTrials
) -> list[TrialRecord]:
    """Every trial, in the order of their numbers; the best one's runs become the members of the sweep."""
    with Claims(store) as claims:
        if not claims.take(f"search/{plan.name}"):
            what = f"search '{plan.name}' is going on in another process"
            raise StoreError(what, where=store.location, fix="wait for it, or give another --name")
        search = Search(store, location, plan, workers)
        try:
            while search.is_going:
                search.give_out()
                follow(search.trials, search.budget)
                search.collect()
        finally:
            workers.close()
    found = search.trials
    follow(found, search.budget)
    set_importance(store, plan.name, importance(plan, [search.outcome(trial) for trial in found]))
    best = best_trial(found)
    label = "" if best is None else settings_text(best.settings)
    write.set_members(store, plan.name, [] if best is None else [(label, run_id) for run_id in best.runs])
    return found


class Search:
    """The trials of a plan whose record is in the store already, and the workers of this process."""

    def __init__(self, store: Store, location: str, plan: SearchPlan, workers: CellWorkers) -> None:
        self.store, self.location, self.plan, self.workers = store, location, plan, workers
        self.window = int(find_search(store, plan.name).plan["window"])
        self.contents = Contents(plan.samples)
        there = {run.run_id for run in read.runs(store)}
        self.trials = [_to_be_done(trial, there) for trial in trials(store, plan.name)]
        self.budget = max(plan.way.trials, len(self.trials))
        self.busy: dict[int, tuple[int, str]] = {}
        """Keys of the workers' tasks: the trial, and the hash of its run's configuration."""
        self.losses: Counter[int] = Counter()

    @property
    def is_going(self) -> bool:
        return len(self.trials) < self.budget or not all(trial.is_over for trial in self.trials)

    def give_out(self) -> None:
        """Go on with every trial that no worker has, and choose new ones while the window allows it."""
        for trial in list(self.trials):
            if not trial.is_over and trial.number not in {number for number, _ in self.busy.values()}:
                self._go_on(trial)
        while len(self.trials) < self.budget and self._may_choose():
            known = [self.outcome(each) for each in self._known(len(self.trials))]
            trial = TrialRecord(len(self.trials), suggested(self.plan, known))
            put_trial(self.store, self.plan.name, trial)
            self.trials.append(trial)
            self._go_on(trial)

    def collect(self) -> None:
        """Take in what workers answer; if none is working, wait for the processes that hold the runs."""
        if not self.busy and self.is_going:
            time.sleep(POLL)
        for answer in self.workers.answers() if self.busy else []:
            number, _ = self.busy.pop(answer.key)
            self._take(self.trials[number], answer)

    def outcome(self, trial: TrialRecord) -> Outcome:
        """The trial as the sampler sees it."""
        curve = {
            i * RUN_APART + step: value
            for i, run_id in enumerate(trial.runs if trial.state in {"done", "pruned"} else ())
            for step, value in validation_curve(self.store, read.find_run(self.store, run_id)).items()
            if trial.state == "done" or step <= pruned_at(self.store, run_id, (self.plan.name, trial.number))
        }
        return Outcome(dict(trial.settings), trial.state, trial.score, curve)

    def _may_choose(self) -> bool:
        """Whether all that the next trial is chosen from is over, and a worker is idle."""
        until = len(self.trials) - self.window
        return len(self.busy) < self.workers.n and all(trial.is_over for trial in self.trials[: max(0, until + 1)])

    def _known(self, number: int) -> list[TrialRecord]:
        """What trial `number` may know of those before it: of the latest ones only their settings."""
        until = number - self.window
        return [each if each.number <= until else _as_begun(each) for each in self.trials[:number]]

    def _go_on(self, trial: TrialRecord) -> None:
        """Begin the trial's next run if there is one and a worker is idle; otherwise the trial is over."""
        try:
            configs = [placed(self.plan.config(trial.settings, seed)) for seed in self.plan.seeds]
        except ConfigError as error:
            self._put(replace(trial, state="failed", error=str(error)))
            return
        runs: list[str] = []
        for config in configs:
            run = run_of(self.store, Cell(trial.label, config), self.contents)
            if run is None or run.status != "done":
                taken = {each for _, each in self.busy.values()}
                is_free = config.fingerprint() not in taken and (run is None or run.status != "running")
                if is_free and len(self.busy) < self.workers.n:
                    self._begin(replace(trial, runs=tuple(runs)), config, run.run_id if run else None)
                return
            runs.append(run.run_id)
        self._end(replace(trial, runs=tuple(runs)))

    def _begin(self, trial: TrialRecord, config: Config, run_id: str | None) -> None:
        self._put(trial)
        folder = data_folder(self.plan.data_path)
        order: dict[str, Any] = {
            "store": self.location if "://" in self.location else str(Path(self.location).resolve()),
            "config": config.model_dump(),
            "run_id": run_id,
            "sweep": self.plan.name,
            "cell": trial.label,
            "data_path": str(folder.resolve()) if folder else None,
            "trial": {"number": trial.number, "rivals": self._rivals(trial)},
        }
        key = self.workers.begin(json.dumps(order).encode())
        self.busy[key] = (trial.number, config.fingerprint())

    def _rivals(self, trial: TrialRecord) -> list[list[tuple[int, float]]]:
        """Validation curves of the finished trials that this one knows of, each by its run with the same seed."""
        if self.plan.way.pruner == "none":
            return []
        done = [each.runs[len(trial.runs)] for each in self._known(trial.number) if each.state == "done"]
        return [list(validation_curve(self.store, read.find_run(self.store, run_id)).items()) for run_id in done]

    def _take(self, trial: TrialRecord, answer: Answer) -> None:
        if answer.data is None:
            self.losses[trial.number] += 1
            if self.losses[trial.number] > self.workers.retries:
                self._put(replace(trial, state="failed", error=answer.how))
            return
        found = json.loads(answer.data)
        runs = (*trial.runs, *([found["run_id"]] if found["run_id"] else []))
        after = replace(trial, runs=runs, seconds=trial.seconds + found["seconds"])
        if found["state"] == "done":
            self._put(after)
            self._go_on(after)
        else:
            self._put(replace(after, state=found["state"], error=found["error"]))

    def _end(self, trial: TrialRecord) -> None:
        """All runs are done."""
        try:
            scores = [validation_score(self.store, read.find_run(self.store, run_id)) for run_id in trial.runs]
        except ConfigError as error:
            self._put(replace(trial, state="failed", error=str(error)))
            return
        self._put(replace(trial, state="done", score=fmean(scores), error=None))

    def _put(self, trial: TrialRecord) -> None:
        put_trial(self.store, self.plan.name, trial)
        self.trials[trial.number] = trial


def _as_begun(trial: TrialRecord) -> TrialRecord:
    return TrialRecord(trial.number, trial.settings)


def _to_be_done(trial: TrialRecord, there: set[str]) -> TrialRecord:
    """A trial that was going on, that failed, or whose runs were removed, is begun or gone on with."""
    is_whole = trial.state in {"done", "pruned"} and set(trial.runs) <= there
    return trial if is_whole else replace(trial, state="running", runs=(), score=None, error=None)
