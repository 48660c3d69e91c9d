"""equipoise show"""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.session import print_run
from equipoise.cli.shell import offers


def show(
    run: Annotated[
        str,
        typer.Argument(
            help="A run id, the beginning of one, or `latest`.", show_default=False, autocompletion=offers.runs
        ),
    ],
    config: Annotated[bool, typer.Option("--config", help="Print the resolved configuration as a preset.")] = False,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Show one run: status, metrics, findings and events; with --config the YAML that runs it again.

    [bold]Examples[/]

      equipoise show latest

      equipoise show latest --config > again.yaml && equipoise run again.yaml
    """
    from equipoise.api.choose import open_run

    found = open_run(run, store=store)
    if config and as_json:
        print_json(found.record.config)
    elif config:
        typer.echo(found.to_yaml(), nl=False)
    else:
        print_run(found, store, as_json)
        for event in [] if as_json else found.summary()["events"]:
            at = "" if event["step"] is None else f" at checkpoint {event['step'] + 1}"
            typer.echo(f"{event['time'][:19]}  {event['kind']}{at}: {event['message']}")
