"""equipoise demo"""

from __future__ import annotations

from equipoise.cli.options import StoreAt


def demo(store: StoreAt = None) -> None:
    """The main job on embedded data: train, compare over three seeds, show who owned what.

    Needs no download. Eight ways to train five clients with very unequal labels, three seeds each.
    """
    from pathlib import Path

    import typer

    from equipoise.cli.compare import Format
    from equipoise.cli.partition import partition
    from equipoise.cli.sweep import carried_out, report
    from equipoise.run.grid import load_grid
    from equipoise.store.database import default_location

    location = store or default_location()
    folder = Path("runs") if "://" in location else Path(location).parent
    typer.echo("digits, five clients, Dirichlet α = 0.05: who owns what (seed 0)\n")
    partition("fedavg", ["partition.alpha=0.05"], output=folder / "demo-partition.svg")
    typer.echo("\ntraining eight methods × three seeds …\n")
    places = carried_out(load_grid("studies/demo"), location, None)
    typer.echo(f"\nstored in {location}; the picture is {folder / 'demo-partition.svg'}")
    typer.echo("next: equipoise ls · equipoise show latest · equipoise compare --sweep studies/demo --format latex\n")
    report(places, location, Format.text)
