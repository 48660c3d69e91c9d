"""equipoise demo"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Json, StoreAt, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.api.demo.part import Story, StoryPart

READING = "Accuracy on test in per cent, mean ± deviation over seeds; * marks an interval that excludes zero."
NEXT = ("equipoise ls", "equipoise compare --sweep studies/demo-policies")


def demo(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random seeds per row.")] = 3,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Tell three stories on embedded data, each with its numbers, and write a report.

    (a) One upload, any skew: accuracy against α, λ policies under one server, servers on one set of clients.
    (b) A λ policy that runs away, what the diagnosis says, the same runs healed.
    (c) A run that is killed with SIGKILL and resumed, and its numbers beside those of one that never stopped.

    Needs no download. What an earlier demo has run is not run again, except for the run that is killed.
    """
    from equipoise.api.demo.stories import Setting, stories
    from equipoise.store.database import default_location, open_store

    location = store or default_location()
    with open_store(location) as opened:
        stored_at = opened.location
    folder = Path("runs") if "://" in location else Path(location).parent
    setting = Setting(seeds, location, True, folder, _note)
    told: list[Story] = []
    if not as_json:
        typer.echo(f"digits, five clients, one upload each, seeds: {seeds}\n{READING}")
    with _stoppable():
        for story in stories(setting):
            told.append(story)
            if not as_json:
                _print(story, "abc"[len(told) - 1])
    if as_json:
        print_json({"stories": [story.to_json() for story in told], "report": str(setting.page), "store": stored_at})
    else:
        sick = [f"equipoise diagnose {part.diagnosed}" for story in told for part in story.parts if part.diagnosed]
        at = "" if store is None or "://" in store else f" --store {shlex.quote(store)}"
        following = " · ".join(command + at for command in (*NEXT, *sick))
        typer.echo(f"\nstored in {stored_at}; story (b) on one page: {setting.page}\nnext: {following}")


@contextmanager
def _stoppable() -> Iterator[None]:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(130) from None


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print(story: Story, letter: str) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"\n[bold]({letter}) {story.title}[/]")
    for part in story.parts:
        _print_part(console, part)


def _print_part(console: Console, part: StoryPart) -> None:
    from rich.table import Table

    from equipoise.cli.diagnose import print_finding
    from equipoise.diagnose.words import labels

    console.print()
    console.print(part.says, markup=False)
    if part.finding is not None:
        print_finding(console, part.finding, labels("en"))
    if part.rows:
        table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
        for column in part.columns:
            table.add_column(column, no_wrap=True)
        for row in part.rows:
            table.add_row(*row)
        console.print()
        console.print(table)
