"""equipoise resume"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt
from equipoise.cli.session import followed
from equipoise.cli.summary import print_run


def resume(
    run: Annotated[str, typer.Argument(help="A run id, the beginning of one, or `latest`.", show_default=False)],
    path: Annotated[Path | None, typer.Option("--path", help="The data folder, if it has moved.")] = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, killed or failed, to the same numbers as if it never had been.

    [bold]Example[/]

      equipoise resume latest
    """
    from equipoise.store.database import open_existing
    from equipoise.store.read import find_run

    with open_existing(store) as opened:
        found = find_run(opened, run)
        if found.status == "done":
            print_run(opened, found.run_id, as_json)
            return
        from equipoise.run.session import resume as go_on
        from equipoise.run.watch import Watch

        def work(watch: Watch) -> str:
            go_on(opened, found, watch, path)
            return found.run_id

        print_run(opened, followed(work), as_json)
