"""equipoise demo"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Json, StoreAt

if TYPE_CHECKING:
    from equipoise.run.sweep import Place


def demo(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random seeds per method.")] = 3,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """The main job on embedded data: compare λ policies over seeds, show who owned what and how it went.

    Needs no download. Nine ways with five clients of very unequal labels, one upload each.
    """
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
        typer.echo(f"\nnine ways, one upload each, seeds: {seeds} …\n")
    places = carried_out(load_grid("studies/demo", seeds=str(seeds)), location, None)
    report(places, location, Format.json if as_json else Format.text)
    if not as_json:
        curves = folder / "demo-curves.svg"
        draw(places, location, curves)
        typer.echo(f"\nstored in {place}; the pictures are {picture} and {curves}")
        typer.echo("next: equipoise ls · equipoise show latest · equipoise compare --sweep studies/demo --format latex")
    require_all(places)


def draw(places: Sequence[Place], location: str, file: Path) -> None:
    """Accuracy and λ over the checkpoints: sketched here, drawn in a file."""
    from rich.console import Console
    from rich.table import Table

    from equipoise.report.curves_chart import chart, means, points, sketch
    from equipoise.report.partition_chart import save
    from equipoise.store.database import open_store

    labels = {place.run_id: place.cell.label for place in places if place.run_id and place.state == "done"}
    with open_store(location) as opened:
        accuracy, lam = points(opened, labels)
    table = Table("", "accuracy", "", "λ used", "", box=None, header_style="bold")
    for line in dict.fromkeys(labels.values()):
        shares, weights = means(accuracy, line), means(lam, line)
        shown = f"{100 * shares[0]:.0f} → {100 * shares[-1]:.0f} %" if shares else ""
        used = f"{weights[0]:.3g} → {weights[-1]:.3g}" if weights else "–"
        table.add_row(line, sketch(accuracy, line), shown, sketch(lam, line), used)
    Console().print(table)
    save(chart(accuracy, lam, "digits, α = 0.05, one upload: mean of the seeds"), file)
