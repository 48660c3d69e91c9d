"""equipoise resume"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Json, StoreAt
from equipoise.cli.session import followed, print_run
from equipoise.cli.shell import offers

ROUNDS = typer.Option(
    "--rounds", metavar="N|+N", help="Make the run longer: N rounds in all, or N more.", show_default=False
)


DEVICE = typer.Option(
    "--device", help="Another device than the one it began on; the last bits will differ.", show_default=False
)

ENGINE = typer.Option(
    "--engine",
    help="Another engine than the one it began on; the numbers are the same.",
    show_default=False,
    autocompletion=offers.engines,
)
SETTINGS = typer.Argument(
    metavar="[engine.KEY=VALUE]…",
    help="Settings of the engine, e.g. engine.workers=4.",
    show_default=False,
    autocompletion=offers.engine_settings,
)


def resume(
    run: Annotated[
        str,
        typer.Argument(
            help="A run id, the beginning of one, or `latest`.", show_default=False, autocompletion=offers.runs
        ),
    ],
    settings: Annotated[list[str] | None, SETTINGS] = None,
    rounds: Annotated[str | None, ROUNDS] = None,
    device: Annotated[str | None, DEVICE] = None,
    engine: Annotated[str | None, ENGINE] = None,
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

      equipoise resume latest --engine processes engine.workers=2
    """
    from equipoise.api.choose import open_run

    found = open_run(run, store=store)
    if found.status != "done" or rounds is not None:
        from equipoise.api.train import resume as go_on

        block = _engine(engine, settings or [])
        found = followed(
            lambda watch: go_on(found, rounds=rounds, device=device, engine=block, path=path, progress=watch)
        )
    print_run(found, store, as_json)


def _engine(name: str | None, settings: list[str]) -> dict[str, Any]:
    """The engine's block: its name, and settings given as engine.KEY=VALUE."""
    from equipoise.config.loader import flat_overrides
    from equipoise.core.errors import ConfigError, Problem

    given = flat_overrides(settings)
    others = [key for key in given if not key.startswith("engine.")]
    if others:
        what = "a run is resumed with the settings it began with; only the engine's may change"
        raise ConfigError([Problem(key, what) for key in others], fix="start a new run: `equipoise run`")
    block = {key.removeprefix("engine."): value for key, value in given.items()}
    return block if name is None else {**block, "name": name}
