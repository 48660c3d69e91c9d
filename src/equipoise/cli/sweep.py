"""equipoise sweep"""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.compare import Format, print_comparison
from equipoise.cli.dry_run import DryRun, print_plans
from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.search import SearchOptions
from equipoise.cli.shell import offers
from equipoise.core.errors import ConfigError, Problem

if TYPE_CHECKING:
    from equipoise.api.sweep import SweepHandle
    from equipoise.run.grid import Grid

SOURCE = typer.Argument(
    metavar="FILE|PRESET",
    help="A sweep file, a study, or any preset.",
    show_default=False,
    autocompletion=offers.presets_and_sweeps,
)
OVERRIDES = typer.Argument(
    metavar="[KEY=VALUE[,VALUE]]…",
    help="Settings; several values make an axis.",
    show_default=False,
    autocompletion=offers.settings,
)

ENGINE = typer.Option(
    "--engine",
    help="Where the runs happen: processes of this machine, or ray for a cluster.",
    show_default=False,
    autocompletion=offers.engines,
)
ADDRESS = typer.Option(
    "--address",
    help="With --engine ray: auto, HOST:PORT or ray://HOST:PORT; default: this machine.",
    show_default=False,
)
SEARCH = typer.Option("--search", help="optuna: search the ranges of the file instead of a grid.", show_default=False)
TRIALS = typer.Option("--trials", min=1, help="With --search: how many settings to try, in all.", show_default=False)
SAMPLER = typer.Option("--sampler", help="With --search: tpe, the default, or random.", show_default=False)
PRUNER = typer.Option(
    "--pruner", help="With --search: median ends hopeless runs early, the default; or none.", show_default=False
)
SEARCH_SEED = typer.Option(
    "--search-seed", min=0, help="With --search: seed of what is drawn from the ranges; default: 0.", show_default=False
)
PICTURE = typer.Option(
    "--picture", help="With --search: draw the search to this .svg, .png, .pdf or .html file.", show_default=False
)


def sweep(
    source: Annotated[str, SOURCE],
    overrides: Annotated[list[str] | None, OVERRIDES] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="How many seeds, or which: 3, or 0,1,7, or [7].")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time; default: cores.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the sweep; default: its source.", show_default=False)
    ] = None,
    engine: Annotated[str | None, ENGINE] = None,
    address: Annotated[str | None, ADDRESS] = None,
    search: Annotated[str | None, SEARCH] = None,
    trials: Annotated[int | None, TRIALS] = None,
    sampler: Annotated[str | None, SAMPLER] = None,
    pruner: Annotated[str | None, PRUNER] = None,
    search_seed: Annotated[int | None, SEARCH_SEED] = None,
    picture: Annotated[Path | None, PICTURE] = None,
    dry_run: DryRun = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.text,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Run a grid over several seeds, and compare.

    Finished cells are not run again and stopped ones continue, so a sweep may be interrupted and started again.

    [bold]Examples[/]

      equipoise sweep studies/demo -j 2

      equipoise sweep fedavg method=fedavg,fedprox alpha=0.05,0.5 --seeds 3

      equipoise sweep ranges.yaml --search optuna --trials 40
    """
    options = SearchOptions(search, trials, sampler, pruner, search_seed, picture)
    options.require()
    if options.search is not None:
        from equipoise.api.sweep import Workers
        from equipoise.cli.search import search as run_search
        from equipoise.run.search.plan import SearchWay, load_search

        if dry_run or form is not Format.text:
            wrong = "--dry-run" if dry_run else "--format"
            raise ConfigError([Problem(wrong, "is for a grid; a search has --json")])
        plan = load_search(source, overrides or [], SearchWay(**options.way), seeds, name)
        run_search(plan, store, Workers(jobs, engine, address), picture, as_json)
        return
    from equipoise.run.grid import load_grid

    grid = load_grid(source, overrides or [], seeds, name)
    if dry_run:
        print_plans(grid, as_json)
        return
    found = carried_out(grid, store, jobs, engine, address)
    report(found, Format.json if as_json else form)
    require_all(found)


def carried_out(
    grid: Grid, store: str | None, jobs: int | None, engine: str | None = None, address: str | None = None
) -> SweepHandle:
    """Run all cells, with a live table."""
    from equipoise.api.sweep import Workers, carry_out

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return carry_out(grid, store, Workers(jobs, engine, address), progress=True)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(130) from None


def report(found: SweepHandle, form: Format) -> None:
    """Print the comparison of finished cells, and the names of the others."""
    name = found.name
    comparison = found.comparison.comparison if found.labels else None
    if form is Format.json:
        table = comparison.to_json() if comparison else {}
        ids = [place.run_id for place in found.places]
        print_json({"sweep": name, "runs": ids, "failed": found.failed, **table})
    elif comparison:
        print_comparison(comparison, form)
        print(f"kept as sweep '{name}': equipoise compare --sweep {shlex.quote(name)}", file=sys.stderr)
    for each in found.failed:
        print(f"failed: {each['cell']}, seed {each['seed']}: {each['error']}", file=sys.stderr)


def require_all(found: SweepHandle) -> None:
    """Unless all cells are done, exit with 1, or with 2 if every failure is a wrong request."""
    codes = [place.exit_code for place in found.places if place.state != "done"]
    if codes:
        raise typer.Exit(min(codes))
