"""equipoise doctor"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import typer

from equipoise import __version__
from equipoise.cli.options import Json, StoreAt, print_json

if TYPE_CHECKING:
    from equipoise.api.doctor.checkup import Checkup

MARKS = {"ok": ("✓", "green"), "note": ("·", "dim"), "broken": ("✗", "red bold")}


def doctor(store: StoreAt = None, as_json: Json = False) -> None:
    """Look at what is installed, which devices there are, what is missing, and how to get it.

    Every required package is imported, in a process of its own; extras are looked up by version. What is optional and
    missing is a note. Ends with exit code 1 if something is broken, and says what to do.

    [bold]Examples[/]

      equipoise doctor

      equipoise doctor --json --store postgresql://user@host/database
    """
    from equipoise.api.doctor.checkup import is_green
    from equipoise.api.doctor.examine import examine

    checkups = examine(store)
    green = is_green(checkups)
    if as_json:
        document = {"version": __version__, "green": green, "checkups": [each.to_json() for each in checkups]}
        print_json(document)
    else:
        _print(checkups)
    if not green:
        raise typer.Exit(1)


def _print(checkups: list[Checkup]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for part, of_part in groupby(checkups, key=lambda each: each.part):
        console.print(f"\n[bold]{part}[/]")
        for each in of_part:
            mark, style = MARKS[each.state]
            console.print(
                f"  {mark} {each.name:<18} {each.says}", style=style if each.state != "ok" else "", markup=False
            )
            if each.fix:
                console.print(f"      next: {each.fix}", markup=False)
    broken = [each.name for each in checkups if each.state == "broken"]
    notes = sum(each.state == "note" for each in checkups)
    console.print()
    if broken:
        console.print(f"broken: {', '.join(broken)}", style="red bold", markup=False)
    else:
        console.print(f"all that is needed works; {notes} notes", style="green")
