"""equipoise demo"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt


def demo(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random seeds per method.")] = 3,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Compare λ policies over seeds on embedded data, diagnose the runs, and write a report.

    Needs no download: nine methods, five clients with very different labels, one upload each.
    """
    from equipoise.cli.compare import Format
    from equipoise.cli.partition import partition
    from equipoise.cli.sweep import carried_out, report, require_all
    from equipoise.run.grid import load_grid
    from equipoise.store.database import default_location, open_store

    location = store or default_location()
    with open_store(location) as opened:
        stored_at = opened.location
    folder = Path("runs") if "://" in location else Path(location).parent
    picture = folder / "demo-partition.svg"
    if not as_json:
        typer.echo("digits, five clients, Dirichlet α = 0.05: who owns what (seed 0)\n")
        partition("fedavg", ["partition.alpha=0.05"], output=picture)
        typer.echo(f"\nnine ways, one upload each, seeds: {seeds} …\n")
    grid = load_grid("studies/demo", seeds=str(seeds))
    found = carried_out(grid, location, None)
    report(found, Format.json if as_json else Format.text)
    if not as_json:
        labels = found.labels
        draw(labels, location)
        page = folder / "demo-report.html"
        explain(labels, location, page)
        typer.echo(f"\nstored in {stored_at}; who owns what is {picture}, everything else {page}")
        typer.echo("next: equipoise ls · equipoise show latest · equipoise compare --sweep studies/demo --format latex")
    require_all(found)


def draw(labels: Mapping[str, str], location: str) -> None:
    """Accuracy and λ over the checkpoints, sketched."""
    from rich.console import Console
    from rich.table import Table

    from equipoise.report.sketch import means, points, sketch
    from equipoise.store.database import open_store

    with open_store(location) as opened:
        accuracy, lam = points(opened, labels)
    table = Table("", "accuracy", "", "λ used", "", box=None, header_style="bold")
    for line in dict.fromkeys(labels.values()):
        shares, weights = means(accuracy, line), means(lam, line)
        shown = f"{100 * shares[0]:.0f} → {100 * shares[-1]:.0f} %" if shares else ""
        used = f"{weights[0]:.3g} → {weights[-1]:.3g}" if weights else "–"
        table.add_row(line, sketch(accuracy, line), shown, sketch(lam, line), used)
    Console().print(table)


def explain(labels: Mapping[str, str], location: str, page: Path) -> None:
    """The findings of the diagnosis, one line per configuration; the report has them all."""
    from equipoise.report.files import write_text
    from equipoise.report.gather import gather
    from equipoise.report.html import html
    from equipoise.store import read
    from equipoise.store.database import open_store

    with open_store(location) as opened:
        report = gather(opened, [read.find_run(opened, run_id) for run_id in labels], labels, "en")
    typer.echo("")
    for each in report.configurations:
        severe = [grouped for grouped in each.findings if grouped.finding.severity != "note"]
        for grouped in severe:
            typer.echo(f"{each.label}: {grouped.finding.severity} {grouped.finding.code}: {grouped.finding.saw}")
    if not report.first:
        typer.echo(f"diagnosis of {report.n_runs} runs: nothing above a note")
    write_text(page, html(report))
