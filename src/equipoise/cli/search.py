"""What `sweep --search` runs and prints."""

from __future__ import annotations

import shlex
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from equipoise.cli.options import print_json
from equipoise.core.errors import ConfigError, Problem

if TYPE_CHECKING:
    from equipoise.api.search import SearchHandle
    from equipoise.api.sweep import Workers
    from equipoise.report.search import SearchResult
    from equipoise.run.search.plan import SearchPlan

WIDE = 200
"""Columns of the table where it is not for a terminal: nothing is cut off."""
DEFAULTS = {"sampler": "tpe", "pruner": "median", "search_seed": 0}


@dataclass(frozen=True)
class SearchOptions:
    """The options of `sweep` that only a search has; None where one was not given."""

    search: str | None
    trials: int | None
    sampler: str | None
    pruner: str | None
    search_seed: int | None
    picture: Path | None

    def require(self) -> None:
        """An option that would have no effect is refused, and so is a search by something else."""
        if self.search is None:
            given = [key for key in ("trials", "sampler", "pruner", "search_seed", "picture") if self.__dict__[key]]
            problems = [Problem(f"--{key.replace('_', '-')}", "belongs to --search optuna") for key in given]
        else:
            problems = [] if self.search == "optuna" else [Problem("--search", f"expected optuna, got {self.search!r}")]
            problems += [Problem("--trials", "a search needs it: how many settings to try")] if not self.trials else []
        if problems:
            raise ConfigError(problems)

    @property
    def way(self) -> dict[str, Any]:
        given = {key: self.__dict__[key] for key in DEFAULTS if self.__dict__[key] is not None}
        return {"trials": self.trials, **DEFAULTS, **given}


def search(plan: SearchPlan, store: str | None, workers: Workers, picture: Path | None, as_json: bool) -> None:
    """Run all trials, and print them."""
    found = _carried_out(plan, store, workers)
    if as_json:
        print_json(found.result.to_json())
    else:
        _print_trials(found.result)
        name = shlex.quote(found.name)
        print(f"kept as sweep '{found.name}': equipoise report --sweep {name}", file=sys.stderr)
    if found.result.best is None:
        raise typer.Exit(1)
    if picture is not None:
        print(f"written: {found.picture(picture)}", file=sys.stderr)


def _carried_out(plan: SearchPlan, store: str | None, workers: Workers) -> SearchHandle:
    from equipoise.api.search import carry_out_search

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return carry_out_search(plan, store, workers, progress=True)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(130) from None


def _print_trials(result: SearchResult) -> None:
    from rich.console import Console
    from rich.table import Table

    from equipoise.report.search_table import header, rows
    from equipoise.report.words import words

    say, console = words("en"), Console()
    console = console if console.is_terminal else Console(width=WIDE)
    grid = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for name in header(result, say):
        grid.add_column(name, no_wrap=True)
    for row in rows(result, say):
        grid.add_row(*row)
    console.print(grid)
    console.print(result.budget(say), style="dim", highlight=False)
    if result.best is None:
        console.print(say("search_none"), highlight=False)
    else:
        console.print("* chosen by validation; test is read for this trial alone", style="dim", highlight=False)
