"""equipoise report"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName


class Page(StrEnum):
    html = "html"
    md = "md"


class Projection(StrEnum):
    pca = "pca"
    tsne = "tsne"


def report(
    runs: Runs = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    sweep: SweepName = None,
    form: Annotated[
        Page | None, typer.Option("--format", help="html, or md; default: by the ending of the file.")
    ] = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the report.")] = Language.en,
    projection: Annotated[
        Projection, typer.Option("--projection", help="How features are projected onto a plane.")
    ] = Projection.pca,
    store: StoreAt = None,
) -> None:
    """Write a report as one self-contained file: a sentence to quote, results, three pictures; the rest is folded.

    Runs that differ only in their seed share a row and a section; its figures are of the worst of these runs. The
    report of a sweep compares its methods instead: curves, ranks, clients, and findings with counts.

    [bold]Examples[/]

      equipoise report latest -o report.html

      equipoise report --sweep studies/demo-policies --lang zh -o demo.html

      equipoise report fedavg-7k etf-align-3x -o report.md
    """
    from equipoise.api.report import ReportForm, write_report

    chosen: Literal["html", "md"] | None = None if form is None else "md" if form is Page.md else "html"
    write_report(runs, output, sweep, ReportForm(chosen, language.value, projection.value, working), store)
    typer.echo(f"written: {output} ({output.stat().st_size / 1e6:.2f} MB)")


@contextmanager
def working(what: str) -> Iterator[None]:
    """On a terminal, show the current activity on stderr while it lasts."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{what} …") if console.is_terminal else nullcontext():
        yield
