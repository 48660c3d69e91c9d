"""equipoise report"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Language, Runs, StoreAt, SweepName, chosen_runs


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
        Page | None, typer.Option("--format", help="html, or md; otherwise the ending of the file says it.")
    ] = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the report.")] = Language.en,
    projection: Annotated[
        Projection, typer.Option("--projection", help="How features are brought onto a plane.")
    ] = Projection.pca,
    store: StoreAt = None,
) -> None:
    """Write a report: results first, then findings, protocol and pictures, in one file that needs nothing else.

    Runs that differ only in their seed share a row and a section; its pictures are of the run that fared worst.

    [bold]Examples[/]

      equipoise report latest -o report.html

      equipoise report --sweep studies/demo --lang zh -o demo.html

      equipoise report fedavg-7k etf-align-3x -o report.md
    """
    from equipoise.report.files import write_text
    from equipoise.report.gather import gather
    from equipoise.store.database import open_existing

    page = form or page_of(output)
    with open_existing(store) as opened:
        chosen, labels = chosen_runs(opened, runs, sweep)
        with working(f"reading {len(chosen)} runs"):
            gathered = gather(opened, chosen, labels, language.value, projection.value)
    if page is Page.md:
        from equipoise.report.markdown import markdown

        text = markdown(gathered)
    else:
        from equipoise.report.html import html

        with working("drawing"):
            text = html(gathered)
    write_text(output, text)
    typer.echo(f"written: {output} ({len(text.encode()) / 1e6:.2f} MB)")


@contextmanager
def working(what: str) -> Iterator[None]:
    """On a terminal, that something is being done, for as long as it is; on stderr, and gone afterwards."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{what} …") if console.is_terminal else nullcontext():
        yield


def page_of(output: Path) -> Page:
    """What the ending of the file says; one that says nothing is HTML."""
    from equipoise.core.errors import ConfigError

    endings = {".md": Page.md, ".markdown": Page.md, ".html": Page.html, ".htm": Page.html, "": Page.html}
    ending = output.suffix.lower()
    if ending not in endings:
        fix = "-o report.html or report.md; pictures and tables as files: `equipoise export RUN --to pdf`"
        raise ConfigError(
            f"a report is a page in HTML or Markdown, and '{output.name}' is neither", where="-o", fix=fix
        )
    return endings[ending]
