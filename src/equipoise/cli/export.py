"""equipoise export"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName


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
    """Export figures as SVG, PNG or PDF, the results as a LaTeX table, or all numbers as Parquet.

    `svg`, `png` and `pdf` write every figure of every run to a folder of its own, `latex` writes results.tex, and
    `parquet` writes metrics.parquet (run, step, round, client, name, value) with runs.json beside it.

    [bold]Examples[/]

      equipoise export latest --to pdf -o figures

      equipoise export --sweep studies/demo --to latex -o paper
    """
    from equipoise.api.export import export as write

    written = write(runs, to.value, output, sweep=sweep, language=language.value, store=store)
    for path in written:
        typer.echo(f"written: {path}")
