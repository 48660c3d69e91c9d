"""equipoise demo"""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt


def demo(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random seeds per method.")] = 3,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """The main job on embedded data: train, compare over seeds, show who owned what.

    Needs no download. Eight ways to train five clients with very unequal labels.
    """
    from pathlib import Path

    from equipoise.cli.compare import Format
    from equipoise.cli.partition import partition
    from equipoise.cli.sweep import carried_out, report, require_all
    from equipoise.run.grid import load_grid
    from equipoise.store.database import default_location, open_store

    location = store or default_location()
    with open_store(location) as opened:
        place = opened.location
    folder = Path("runs") if "://" in location else Path(location).parent
    picture = folder / "demo-partition.svg"
    if not as_json:
        typer.echo("digits, five clients, Dirichlet α = 0.05: who owns what (seed 0)\n")
        partition("fedavg", ["partition.alpha=0.05"], output=picture)
        typer.echo(f"\ntraining eight methods, seeds: {seeds} …\n")
    places = carried_out(load_grid("studies/demo", seeds=str(seeds)), location, None)
    report(places, location, Format.json if as_json else Format.text)
    if not as_json:
        typer.echo(f"\nstored in {place}; the picture is {picture}")
        typer.echo("next: equipoise ls · equipoise show latest · equipoise compare --sweep studies/demo --format latex")
    require_all(places)
