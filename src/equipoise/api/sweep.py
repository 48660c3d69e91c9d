"""Runs a grid over several seeds. The only API file that uses the sweep code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from equipoise.api.compare import ComparisonTable
from equipoise.api.handle import RunHandle
from equipoise.api.notebook import is_notebook
from equipoise.api.place import StoreAt, existing, located
from equipoise.api.request import Settings, merged
from equipoise.api.sweep_progress import SweepProgress
from equipoise.core.errors import ConfigError, Problem

if TYPE_CHECKING:
    import polars as pl

    from equipoise.run.cell_processes import CellWorkers
    from equipoise.run.grid import Grid
    from equipoise.run.places import Place

FollowsSweep: TypeAlias = "bool | Callable[[Sequence[Place]], None] | None"
"""None for the default, True, False, or a function that is called with the cells whenever one changes."""


@dataclass(frozen=True)
class SweepHandle:
    """The cells of a sweep, each with its run; cells that failed have an error and appear in no table."""

    name: str
    """The name of the sweep in its store: `eq.compare(sweep=name)` finds it."""
    places: tuple[Place, ...]
    """Every cell and its state, in the order of the grid."""
    store: str
    """The file or URL of its store."""

    @property
    def runs(self) -> list[RunHandle]:
        """The finished runs, in the order of the grid."""
        return [RunHandle(run_id, self.store) for run_id in self.labels]

    @property
    def labels(self) -> dict[str, str]:
        """Labels of finished runs by run id; runs with the same label differ only in their seed."""
        return {place.run_id: place.cell.label for place in self.places if place.state == "done" and place.run_id}

    @property
    def failed(self) -> list[dict[str, Any]]:
        """{cell, seed, error} of the cells that did not finish."""
        left = [place for place in self.places if place.state != "done"]
        return [{"cell": place.cell.label, "seed": place.cell.config.seed, "error": place.error} for place in left]

    @property
    def comparison(self) -> ComparisonTable:
        """The finished runs side by side."""
        from equipoise.report.comparison import compare
        from equipoise.report.runs import compared
        from equipoise.store.read import find_run

        if not self.labels:
            first = self.failed[0]["error"] if self.failed else "there are no cells"
            raise ConfigError(f"no cell of sweep '{self.name}' is done; the first: {first}", fix="see .failed")
        with existing(self.store) as opened:
            runs = [find_run(opened, run_id) for run_id in self.labels]
            return ComparisonTable(compare(compared(opened, runs, self.labels)))

    def table(self) -> pl.DataFrame:
        """One row per configuration, over its seeds."""
        return self.comparison.table()

    def metrics(self, *names: str) -> pl.DataFrame:
        """Every recorded number of the finished runs: run, label, seed, step, round, client, name, value."""
        import polars as pl

        from equipoise.store.metrics import metrics

        seeds = {place.run_id: place.cell.config.seed for place in self.places if place.run_id}
        with existing(self.store) as opened:
            found = metrics(opened, list(self.labels), names=names).rename({"run_id": "run"})
        run = pl.col("run")
        label = run.replace_strict(self.labels, default=None, return_dtype=pl.String).alias("label")
        seed = run.replace_strict(seeds, default=None, return_dtype=pl.Int64).alias("seed")
        return found.select(run, label, seed, pl.exclude("run"))

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<sweep {self.name}: {len(self.labels)} of {len(self.places)} runs done{failed}>"

    def _repr_html_(self) -> str:
        from equipoise.api.cards import sweep_card

        return sweep_card(self)


def sweep(
    source: str | Path,
    settings: Settings = None,
    /,
    *,
    seeds: int | Sequence[int] | None = None,
    jobs: int | None = None,
    name: str | None = None,
    engine: str | None = None,
    address: str | None = None,
    store: StoreAt = None,
    progress: FollowsSweep = None,
    **more: Any,
) -> SweepHandle:
    """Run a grid over several seeds. Finished cells are not run again, and stopped ones are resumed.

    Args:
        source: a sweep file, a study such as "studies/demo", or any preset.
        settings: a mapping with dotted keys, for keys that are not Python names.
        seeds: how many, or which.
        jobs: runs at a time; the number of cores unless given.
        name: the name of the sweep; its source unless given.
        engine: "ray" to spread the runs over the machines of a Ray cluster; processes of this machine unless given.
        address: of the cluster: "auto", "HOST:PORT" or "ray://HOST:PORT"; one of this machine alone unless given.
        progress: None for the default, True, False, or a function of the cells.
        more: settings of every cell. A list is an axis of the grid, as in `method=["fedavg", "fedprox"]`; a setting
            that is itself a list is a list of one list.

    A failed cell does not end the sweep: a warning says how many failed, and `.failed` lists them.
    """
    from equipoise.run.grid import load_grid

    grid = load_grid(str(source), merged(settings, more), seeds, name)
    found = carry_out(grid, store, Workers(jobs, engine, address), progress)
    if found.failed:
        text = f"{len(found.failed)} of {len(found.places)} cells of sweep '{found.name}' failed; see .failed"
        warnings.warn(text, stacklevel=2)
    return found


@dataclass(frozen=True)
class Workers:
    """Where the runs of a sweep happen: how many at a time, in processes of this machine or on a cluster."""

    jobs: int | None = None
    engine: str | None = None
    address: str | None = None

    def require(self, grid: Grid) -> None:
        if self.engine not in (None, "processes", "ray"):
            raise ConfigError(
                [Problem("--engine", f"a sweep's runs are spread by processes or ray, got {self.engine!r}")]
            )
        if self.engine != "ray" and self.address is not None:
            raise ConfigError([Problem("--address", "is the address of a Ray cluster")], fix="--engine ray")
        if self.engine == "ray" and any(cell.config.engine.name == "ray" for cell in grid.cells):
            what = "runs that are spread over a cluster cannot each use all of it"
            raise ConfigError([Problem("engine", what)], fix="leave out engine=ray, or --engine ray")

    def made(self, grid: Grid, location: str) -> int | CellWorkers:
        if self.engine != "ray":
            return self.jobs or default_jobs(grid)
        from equipoise.run.cell_actors import CellActors

        return CellActors(self.address, self.jobs, location)


def carry_out(grid: Grid, store: StoreAt, workers: Workers, progress: FollowsSweep) -> SweepHandle:
    """Run all cells of a grid."""
    from equipoise.run.sweep import name_of
    from equipoise.run.sweep import sweep as run_all
    from equipoise.store.database import default_location, open_store

    workers.require(grid)
    location = str(store) if store is not None else default_location()
    try:
        with open_store(location) as opened, _following(progress) as follow:
            places = run_all(opened, location, grid, workers.made(grid, location), follow)
            return SweepHandle(name_of(opened, grid), tuple(places), located(store))
    except KeyboardInterrupt as error:
        error.add_note("the same call goes on from here: what is done is not run again")
        raise


def _following(progress: FollowsSweep) -> AbstractContextManager[Callable[[Sequence[Place]], None]]:
    if callable(progress):
        return nullcontext(progress)
    is_seen = sys.stderr.isatty() or is_notebook() if progress is None else progress
    return SweepProgress() if is_seen else nullcontext(_nobody)


def _nobody(places: Sequence[Place]) -> None:
    pass


def default_jobs(grid: Grid) -> int:
    """As many runs as cores, or one at a time if a run uses all cores itself."""
    from equipoise.core.machine import cores

    engines = {cell.config.engine.name for cell in grid.cells}
    return cores() if engines == {"local"} else 1
