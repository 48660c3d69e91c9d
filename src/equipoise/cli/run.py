"""equipoise run"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.dry_run import DryRun, print_plan
from equipoise.cli.options import EventsTo, Json, Overrides, StoreAt
from equipoise.cli.session import followed, print_run
from equipoise.cli.shell import offers
from equipoise.core.stopwatch import WATCH

if TYPE_CHECKING:
    from equipoise.config.schema import Config

PRESET = typer.Argument(
    help="A preset (see `equipoise presets`) or a YAML file.", show_default=False, autocompletion=offers.presets
)


def run(
    preset: Annotated[str, PRESET],
    overrides: Overrides = None,
    tensorboard: EventsTo = None,
    dry_run: DryRun = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Print where the time went, and which settings would help.")
    ] = False,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Train one federation.

    Settings come from the preset; key=value changes them. `data=x` is short for `data.name=x`. Common other names of
    keys are accepted (alpha, num_clients, local_epochs, join_ratio …).

    [bold]Examples[/]

      equipoise run fedavg

      equipoise run fedavg data=cifar10 model=resnet8 partition.alpha=0.05 rounds=3 data.limit=5000

      equipoise run one-shot/ensemble engine=processes seed=1 --json

      equipoise run fafi partition.clients=50 --dry-run
    """
    from equipoise.api.request import requested

    request = requested(preset, overrides or [])  # a wrong request is reported before torch is loaded
    if dry_run:
        print_plan(request, as_json)
        return
    from equipoise.api.train import start

    if profile:
        WATCH.start()
    found = followed(lambda watch: start(request, store, watch), tensorboard)
    print_run(found, store, as_json)
    if profile:
        print_profile(WATCH.stop(), request.config, found.partition.n_clients)


def print_profile(seconds: Mapping[str, float], config: Config, n_clients: int) -> None:
    """Print on stderr, so that a JSON document on stdout stays valid."""
    from rich.console import Console
    from rich.table import Table

    from equipoise.run.profile import PARTS, advice, parts

    found = parts(seconds)
    server, workers = (sum(getattr(part, who) for part in found) or 1.0 for who in ("server", "workers"))
    has_workers = any(part.workers for part in found)
    table = Table("part", "seconds", "share", *(["workers", "share"] if has_workers else []), "what", box=None)
    for part in found:
        theirs = [f"{part.workers:.2f}", f"{part.workers / workers:.0%}"] if has_workers else []
        table.add_row(part.name, f"{part.server:.2f}", f"{part.server / server:.0%}", *theirs, PARTS[part.name])
    console = Console(stderr=True)
    console.print(table)
    for text in advice(seconds, config, n_clients) or ["no setting would help much"]:
        console.print(f"try: {text}", highlight=False, markup=False)
