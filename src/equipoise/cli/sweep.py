"""equipoise sweep"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.compare import Format, print_comparison
from equipoise.cli.dry_run import DryRun, print_plans
from equipoise.cli.options import Json, StoreAt, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from equipoise.run.grid import Grid
    from equipoise.run.places import Place

SOURCE = typer.Argument(metavar="FILE|PRESET", help="A sweep file, a study, or any preset.", show_default=False)
OVERRIDES = typer.Argument(
    metavar="[KEY=VALUE[,VALUE]]…", help="Settings; several values make an axis.", show_default=False
)


def sweep(
    source: Annotated[str, SOURCE],
    overrides: Annotated[list[str] | None, OVERRIDES] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="How many seeds, or which: 3, or 0,1,7, or [7].")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time; default: cores.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What the sweep is called; default: its source.", show_default=False)
    ] = None,
    dry_run: DryRun = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.text,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Run a grid over several seeds, and compare.

    Finished cells are not run again and stopped ones go on, so a sweep may be interrupted and started anew.

    [bold]Examples[/]

      equipoise sweep studies/demo -j 2

      equipoise sweep fedavg method=fedavg,fedprox alpha=0.05,0.5 --seeds 3
    """
    from equipoise.run.grid import load_grid

    grid = load_grid(source, overrides or [], seeds, name)
    if dry_run:
        print_plans(grid, as_json)
        return
    places = carried_out(grid, store, jobs)
    report(places, store, Format.json if as_json else form, called(grid, store))
    require_all(places)


def called(grid: Grid, store: str | None) -> str:
    """The name under which `compare --sweep` finds it."""
    from equipoise.run.sweep import name_of
    from equipoise.store.database import open_store

    with open_store(store) as opened:
        return name_of(opened, grid)


def carried_out(grid: Grid, store: str | None, jobs: int | None) -> list[Place]:
    """All cells run, with a table that follows them."""
    import signal

    from equipoise.run.sweep import sweep as run_all
    from equipoise.store.database import default_location, open_store

    location = store or default_location()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_store(location) as opened, Follower() as follower:
        try:
            return run_all(opened, location, grid, jobs or default_jobs(grid), follower.follow)
        except KeyboardInterrupt:
            print("stopped; the same command goes on from here", file=sys.stderr)
            raise typer.Exit(130) from None


def default_jobs(grid: Grid) -> int:
    """As many runs as cores, or one at a time where a run takes all of them."""
    from equipoise.core.machine import cores

    engines = {cell.config.engine.name for cell in grid.cells}
    return cores() if engines == {"local"} else 1


def report(places: Sequence[Place], store: str | None, form: Format, name: str) -> None:
    """The comparison of what finished, and what did not finish by name."""
    from equipoise.report.comparison import compare
    from equipoise.report.runs import compared
    from equipoise.store.database import open_store
    from equipoise.store.read import find_run

    labels = {str(place.run_id): place.cell.label for place in places if place.state == "done"}
    with open_store(store) as opened:
        comparison = (
            compare(compared(opened, [find_run(opened, run_id) for run_id in labels], labels)) if labels else None
        )
    failed = [place for place in places if place.state != "done"]
    if form is Format.json:
        failures = [{"cell": p.cell.label, "seed": p.cell.config.seed, "error": p.error} for p in failed]
        table = comparison.to_json() if comparison else {}
        print_json({"sweep": name, "runs": [place.run_id for place in places], "failed": failures, **table})
    elif comparison:
        print_comparison(comparison, form)
        print(f"kept as sweep '{name}': equipoise compare --sweep {shlex.quote(name)}", file=sys.stderr)
    for place in failed:
        print(f"failed: {place.cell.label}, seed {place.cell.config.seed}: {place.error}", file=sys.stderr)


def require_all(places: Sequence[Place]) -> None:
    """Exit code 1, or 2 where every failure is a wrong request, unless all cells are done."""
    codes = [place.exit_code for place in places if place.state != "done"]
    if codes:
        raise typer.Exit(min(codes))


class Follower:
    """A live table on a terminal, one line per finished cell elsewhere."""

    def __enter__(self) -> Follower:
        from rich.console import Console
        from rich.live import Live

        self.told: set[int] = set()
        self.started = time.monotonic()
        self.console = Console(stderr=True)
        self.live = Live(console=self.console, transient=True) if sys.stderr.isatty() else None
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.live:
            self.live.stop()

    def follow(self, places: Sequence[Place]) -> None:
        for i, place in enumerate(places):
            if place.state in {"done", "failed"} and i not in self.told:
                self.told.add(i)
                self._tell(place, len(self.told), self._left(places), len(places))
        if self.live:
            self.live.update(_table(places, self._left(places)))

    def _left(self, places: Sequence[Place]) -> str:
        """How long the rest will take, if it takes as long as what was run so far; nothing before the first is done."""
        run = sum(place.state in {"done", "failed"} and not place.is_reused for place in places)
        left = sum(place.state in {"waiting", "running"} for place in places)
        from equipoise.report.times import duration_text

        return f"  left {duration_text((time.monotonic() - self.started) / run * left)}" if run and left else ""

    def _tell(self, place: Place, n: int, left: str, total: int) -> None:
        how = "already done" if place.is_reused else place.state
        error = f": {place.error}" if place.error else ""
        value = "" if place.value is None else f"  {100 * place.value:.2f} %"
        cell = f"{place.cell.label}  seed {place.cell.config.seed}"
        text = f"{n}/{total}  {cell}  {how}  {place.run_id or ''}{value}{left}{error}"
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _table(places: Sequence[Place], left: str) -> Table:
    """One row per label: a mark per seed, and the mean of those that are done."""
    from statistics import fmean

    from rich.table import Table

    marks = {"waiting": "[dim]·[/]", "running": "[cyan]▶[/]", "done": "[green]✓[/]", "failed": "[red]✗[/]"}
    rows: dict[str, list[Place]] = {}
    for place in places:
        rows.setdefault(place.cell.label, []).append(place)
    table = Table("cell", "seeds", "mean so far", box=None, header_style="bold", caption=left.strip() or None)
    for label, row in rows.items():
        values = [place.value for place in row if place.value is not None]
        mean = f"{100 * fmean(values):.2f} %" if values else ""
        table.add_row(label, " ".join(marks[place.state] for place in row), mean)
    return table
