"""equipoise run"""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.options import EventsTo, Json, Overrides, StoreAt
from equipoise.cli.session import followed, print_run

PRESET = typer.Argument(help="A preset (see `equipoise presets`) or a YAML file.", show_default=False)


def run(
    preset: Annotated[str, PRESET],
    overrides: Overrides = None,
    tensorboard: EventsTo = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Train one federation.

    Settings come from the preset and are changed by key=value; `data=x` is short for `data.name=x`, and the names
    researchers use are understood (alpha, num_clients, local_epochs, join_ratio …).

    [bold]Examples[/]

      equipoise run fedavg

      equipoise run fedavg data=cifar10 model=resnet8 partition.alpha=0.05 rounds=3 data.limit=5000

      equipoise run one-shot/ensemble engine=processes seed=1 --json
    """
    from equipoise.config.loader import load
    from equipoise.run.session import start
    from equipoise.store.database import open_store

    request = load(preset, overrides or [])
    with open_store(store) as opened:
        run_id = followed(lambda watch: start(opened, request, watch), tensorboard)
        print_run(opened, run_id, as_json)
