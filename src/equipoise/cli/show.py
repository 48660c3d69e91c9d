"""equipoise show"""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.summary import print_run


def show(
    run: Annotated[str, typer.Argument(help="A run id, the beginning of one, or `latest`.", show_default=False)],
    config: Annotated[bool, typer.Option("--config", help="Print the resolved configuration as a preset.")] = False,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Show one run: status, figures, events; with --config the YAML that runs it again.

    [bold]Examples[/]

      equipoise show latest

      equipoise show latest --config > again.yaml && equipoise run again.yaml
    """
    from equipoise.store.database import open_existing
    from equipoise.store.read import events, find_run

    with open_existing(store) as opened:
        found = find_run(opened, run)
        if config:
            from equipoise.config.loader import dump_yaml

            if as_json:
                print_json(found.config)
            else:
                typer.echo(dump_yaml(found.config), nl=False)
            return
        print_run(opened, found.run_id, as_json)
        if not as_json:
            for recorded in events(opened, found.run_id):
                at = "" if recorded.event.step is None else f" at checkpoint {recorded.event.step + 1}"
                typer.echo(f"{recorded.time[:19]}  {recorded.event.kind}{at}: {recorded.event.message}")
