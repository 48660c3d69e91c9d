"""equipoise export"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName, chosen_runs


class To(StrEnum):
    svg = "svg"
    png = "png"
    pdf = "pdf"
    latex = "latex"
    parquet = "parquet"


def export(
    runs: Runs = None,
    to: Annotated[To, typer.Option("--to", help="Figures, the table of results, or the recorded numbers.")] = To.svg,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")] = Path("export"),
    sweep: SweepName = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the figures.")] = Language.en,
    store: StoreAt = None,
) -> None:
    """Take things out: figures as SVG, PNG or PDF, the results as a LaTeX table, all numbers as Parquet.

    `svg`, `png` and `pdf` write every figure of every run to a folder of its own, `latex` writes results.tex, and
    `parquet` writes metrics.parquet (run, step, round, client, name, value) with runs.json beside it.

    [bold]Examples[/]

      equipoise export latest --to pdf -o figures

      equipoise export --sweep studies/demo --to latex -o paper
    """
    from equipoise.report import export as out
    from equipoise.store.database import open_existing

    with open_existing(store) as opened:
        chosen, labels = chosen_runs(opened, runs, sweep)
        if to is To.latex:
            written = out.write_results(opened, chosen, labels, output)
        elif to is To.parquet:
            written = out.write_numbers(opened, chosen, output)
        else:
            written = out.write_figures(opened, chosen, output, to.value, language.value)
    for path in written:
        typer.echo(f"written: {path}")
