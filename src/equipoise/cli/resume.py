"""equipoise resume"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt
from equipoise.cli.session import followed, print_run

ROUNDS = typer.Option(
    "--rounds", metavar="N|+N", help="Make the run longer: N rounds in all, or N more.", show_default=False
)


DEVICE = typer.Option(
    "--device", help="Another device than the one it began on; the last bits will differ.", show_default=False
)


def resume(
    run: Annotated[str, typer.Argument(help="A run id, the beginning of one, or `latest`.", show_default=False)],
    rounds: Annotated[str | None, ROUNDS] = None,
    device: Annotated[str | None, DEVICE] = None,
    path: Annotated[Path | None, typer.Option("--path", help="The data folder, if it has moved.")] = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Continue a run that was stopped, killed or failed. The numbers are those of a run that never stopped.

    With --rounds a run in rounds becomes longer, even a finished one. From there on, schedules are counted over the new
    number of rounds; without schedules the numbers are those of a run of that length.

    [bold]Examples[/]

      equipoise resume latest

      equipoise resume fedavg-7k3q9x --rounds +20
    """
    from equipoise.api.choose import open_run

    found = open_run(run, store=store)
    if found.status != "done" or rounds is not None:
        from equipoise.api.train import resume as go_on

        found = followed(lambda watch: go_on(found, rounds=rounds, device=device, path=path, progress=watch))
    print_run(found, store, as_json)
