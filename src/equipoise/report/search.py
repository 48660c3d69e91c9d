"""The result of a search: every trial with its score on validation; the test figure of the chosen one alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from equipoise.report.times import duration_text
from equipoise.report.words import Say
from equipoise.store import metrics, read
from equipoise.store.searches import SearchRecord, TrialRecord, best_trial, find_search, trials
from equipoise.store.transact import Store
from equipoise.store.validation import validation_metric


@dataclass(frozen=True)
class SearchResult:
    record: SearchRecord
    trials: Sequence[TrialRecord]
    metric: str
    """The score's name; empty before a trial is done."""
    tested: str
    """The name of the figure on test."""
    test: float | None
    """Of the chosen trial, the mean over its runs; None before a trial is done."""

    @property
    def best(self) -> TrialRecord | None:
        return best_trial(self.trials)

    @property
    def counts(self) -> Counter[str]:
        return Counter(trial.state for trial in self.trials)

    @property
    def keys(self) -> list[str]:
        return list(self.record.plan["space"])

    @property
    def seconds(self) -> float:
        return sum(trial.seconds for trial in self.trials)

    def budget(self, say: Say) -> str:
        """What the search took, in a sentence."""
        plan = self.record.plan
        return say(
            "search_budget",
            trials=len(self.trials),
            pruned=self.counts["pruned"],
            failed=self.counts["failed"],
            seeds=len(plan["seeds"]),
            runs=sum(len(trial.runs) for trial in self.trials),
            time=duration_text(self.seconds),
            sampler=plan["sampler"],
            pruner=plan["pruner"],
            seed=plan["search_seed"],
        )

    def to_json(self) -> dict[str, Any]:
        best, plan = self.best, self.record.plan
        return {
            "sweep": self.record.sweep,
            "metric": self.metric,
            "best": None
            if best is None
            else {"trial": best.number, "settings": dict(best.settings), "validation": best.score}
            | {"test": self.test, "test_metric": self.tested, "runs": list(best.runs)},
            "trials": [_trial_json(trial) for trial in self.trials],
            "importance": dict(self.record.importance),
            "budget": {"trials": len(self.trials), "seeds": len(plan["seeds"]), "seconds": self.seconds}
            | {state: self.counts[state] for state in ("done", "pruned", "failed")}
            | {key: plan[key] for key in ("sampler", "pruner", "search_seed", "window")},
        }


def _trial_json(trial: TrialRecord) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "settings": dict(trial.settings),
        "validation": trial.score,
        "state": trial.state,
        "seconds": trial.seconds,
        "runs": list(trial.runs),
        "error": trial.error if trial.state == "failed" else None,
    }


def search_result(store: Store, sweep: str) -> SearchResult:
    """A search with its trials so far. Of the test set only the chosen trial's headline is read."""
    record, found = find_search(store, sweep), trials(store, sweep)
    best = best_trial(found)
    if best is None:
        return SearchResult(record, found, "", "", None)
    runs = [read.find_run(store, run_id) for run_id in best.runs]
    tested = [metrics.final_metrics(store, run.run_id).get(run.headline) for run in runs]
    known = [value for value in tested if value is not None]
    test = fmean(known) if len(known) == len(runs) else None
    return SearchResult(record, found, validation_metric(runs[0]), runs[0].headline, test)
