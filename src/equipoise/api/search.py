"""Searches settings by validation, and gives the trials with the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing, located
from equipoise.api.request import Settings, merged
from equipoise.api.search_progress import SearchProgress
from equipoise.api.sweep import Workers
from equipoise.core.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from equipoise.report.figure import Figure
    from equipoise.report.search import SearchResult
    from equipoise.run.search.plan import SearchPlan
    from equipoise.store.searches import TrialRecord

FollowsSearch: TypeAlias = "bool | Callable[[Sequence[TrialRecord], int], None] | None"
"""None for the default, True, False, or a function that is called with the trials and how many there will be."""


@dataclass(frozen=True)
class SearchHandle:
    """A search that has come to its end."""

    result: SearchResult
    store: str
    """The file or URL of its store."""

    @property
    def name(self) -> str:
        """The name of its sweep in the store, whose runs are those of the chosen trial."""
        return self.result.record.sweep

    @property
    def best(self) -> dict[str, Any]:
        """{trial, settings, validation, test, test_metric, runs} of the trial that validation chose."""
        found: dict[str, Any] | None = self.result.to_json()["best"]
        if found is None:
            first = next((trial.error for trial in self.result.trials if trial.error), "there are none")
            raise ConfigError(f"no trial of search '{self.name}' is done; the first: {first}", fix="see .table()")
        return found

    @property
    def runs(self) -> list[RunHandle]:
        """The runs of the chosen trial, one per random seed."""
        return [RunHandle(run_id, self.store) for run_id in self.best["runs"]]

    def table(self) -> pl.DataFrame:
        """One row per trial: trial, each setting, validation, test (of the chosen one only), state, seconds."""
        import polars as pl

        best = self.result.best
        rows = [
            {"trial": trial.number}
            | {key: trial.settings[key] for key in self.result.keys}
            | {"validation": trial.score, "test": self.result.test if trial == best else None}
            | {"state": trial.state, "seconds": trial.seconds}
            for trial in self.result.trials
        ]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def figures(self, language: str = "en") -> list[Figure]:
        """The scores over the trials, and how much each setting mattered."""
        from equipoise.report.figures.search import search_figures
        from equipoise.report.words import words

        return list(search_figures(self.result, words(language)))

    def picture(self, path: str | Path) -> Path:
        """Draw the scores over the trials to a file: .svg, .png, .pdf or .html."""
        from equipoise.report.draw import draw
        from equipoise.report.files import save
        from equipoise.report.words import words

        figures = self.figures()
        if not figures:
            raise ConfigError(f"no trial of search '{self.name}' is done: there is nothing to draw", where="--picture")
        say = words("en")
        save(draw(figures[0], say).properties(title=say(f"figure.{figures[0].key}")), Path(path))
        return Path(path)

    def __repr__(self) -> str:
        return f"<search {self.name}: {len(self.result.trials)} trials, {self.result.counts['done']} done>"


def search(
    source: str | Path,
    settings: Settings = None,
    /,
    *,
    trials: int,
    sampler: str = "tpe",
    pruner: str = "median",
    search_seed: int = 0,
    seeds: int | Sequence[int] | None = None,
    jobs: int | None = None,
    name: str | None = None,
    engine: str | None = None,
    address: str | None = None,
    store: StoreAt = None,
    progress: FollowsSearch = None,
    **more: Any,
) -> SearchHandle:
    """Search settings for the highest headline on validation. The same call goes on with a search that was stopped.

    Args:
        source: a sweep file with ranges under `search:`, or any preset.
        settings: a mapping with dotted keys, for keys that are not Python names. A list is a list of values to try.
        trials: how many settings are tried in all.
        sampler: "tpe", which learns from earlier trials, or "random".
        pruner: "median" ends runs that validation finds hopeless; "none" does not.
        search_seed: the seed of what is drawn from the ranges.
        seeds: random seeds of every trial's runs, how many or which; one unless given.
        jobs: runs at a time; the number of cores unless given.
        name: the name of the search; its source with " search" unless given.
        engine, address: as in `sweep`.
        progress: None for the default, True, False, or a function of the trials.
        more: settings of every run.
    """
    from equipoise.run.search.plan import SearchWay, load_search

    way = SearchWay(trials, sampler, pruner, search_seed)
    plan = load_search(str(source), merged(settings, more), way, seeds, name)
    return carry_out_search(plan, store, Workers(jobs, engine, address), progress)


def carry_out_search(plan: SearchPlan, store: StoreAt, workers: Workers, progress: FollowsSearch) -> SearchHandle:
    """Run all trials of a plan."""
    from dataclasses import replace

    from equipoise.report.search import search_result
    from equipoise.run.cell_processes import CellProcesses
    from equipoise.run.search.optuna_study import require_optuna
    from equipoise.run.search.search import run_search
    from equipoise.store.database import default_location, open_store
    from equipoise.store.searches import begin_search
    from equipoise.store.write import name_sweep

    require_optuna()
    grid = plan.samples
    workers.require(grid)
    location = str(store) if store is not None else default_location()
    with open_store(location) as opened, _following(progress) as follow:
        name = name_sweep(opened, plan.name, plan.fingerprint(), {"search"}, is_given=plan.is_named)
        made = workers.made(grid, location)
        crew = CellProcesses(made) if isinstance(made, int) else made
        begin_search(opened, name, {**plan.described(), "window": crew.n})
        run_search(opened, location, replace(plan, name=name), crew, follow)
    with existing(location) as opened:
        return SearchHandle(search_result(opened, name), located(store))


def _following(progress: FollowsSearch) -> AbstractContextManager[Callable[[Sequence[TrialRecord], int], None]]:
    if callable(progress):
        return nullcontext(progress)
    return SearchProgress() if progress is not False else nullcontext(_nobody)


def _nobody(trials: Sequence[TrialRecord], budget: int) -> None:
    pass
