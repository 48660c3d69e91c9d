"""`equipoise data`: lists data sets, checks their files, downloads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.data_report import print_overview
from equipoise.cli.options import Json, print_json, say_broken
from equipoise.cli.shell import offers

if TYPE_CHECKING:
    from equipoise.config.blocks import DataOptions
    from equipoise.data.fetch import Fetched, Progress

app = typer.Typer(
    name="data",
    no_args_is_help=True,
    help="Data sets: list them, check their files, download them. "
    "Files are looked for in --path, otherwise in the folder that EQUIPOISE_DATA names.",
)

Folder = Annotated[Path | None, typer.Option("--path", help="Data folder; without it, EQUIPOISE_DATA.")]
Name = Annotated[
    str, typer.Argument(help="A set of `equipoise data list`, as in cifar10.", autocompletion=offers.listed)
]
Settings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]…",
        help="Settings of the set, as in data.subset=top data.users=1000.",
        show_default=False,
        autocompletion=offers.data_settings,
    ),
]


@app.command("list")
def list_sets(path: Folder = None, as_json: Json = False) -> None:
    """List the data sets a run can use, with their published sizes and where their files were found.

    Sets marked embedded need no file. For the others: `equipoise data fetch NAME`, or bring your own copy.
    """
    from equipoise.kind.check import overview

    lines = overview(path)
    say_broken()
    if as_json:
        print_json(lines)
    else:
        print_overview(lines)


@app.command()
def check(name: Name, settings: Settings = None, path: Folder = None, as_json: Json = False) -> None:
    """Read a whole data set and report what it holds beside the published figures.

    For images: counts, labels, shape, range and channel statistics. For interactions: users, items, lengths, the split,
    what the reader dropped or sorted, and a check of each named feature table. For both: each file's size and checksum.
    A truncated file, a wrong checksum, or features of other items end with exit code 2 and an error that names them.

    [bold]Examples[/]

      equipoise data check digits

      equipoise data check movielens-1m data.subset=top data.users=1000 data.text=text.npz

      equipoise data check table data.file=clicks.csv data.item=sku
    """
    from equipoise.kind.check import examine

    report = examine(name, path, _options(name, settings))
    if as_json:
        print_json(report)
    else:
        from equipoise.config.kinds import kind_of

        kind_of(report["name"]).load("show")(report)


def _options(name: str, settings: list[str] | None) -> DataOptions | None:
    """The settings of the set, checked as those of a run are; None where none is given."""
    if not settings:
        return None
    from equipoise.config.loader import load
    from equipoise.core.errors import ConfigError, Problem

    message = "expected a setting of the set, as in data.users=1000; the folder is --path"
    foreign = [text for text in settings if not text.startswith("data.") or text.startswith("data.path=")]
    if foreign:
        raise ConfigError([Problem(text, message) for text in foreign])
    return load({"data": {"name": name}}, settings).config.data


@app.command()
def fetch(
    name: Name,
    path: Folder = None,
    mirror: Annotated[str | None, typer.Option(help="Take the files from this address (or EQUIPOISE_MIRROR).")] = None,
    as_json: Json = False,
) -> None:
    """Download the official files of a set into the data folder and verify their checksums.

    An interrupted download continues when the command is given again. Complete files are not downloaded again.
    Each set has its own terms of use: read those of the set you use.
    """
    from equipoise.data.fetch import fetch as fetch_files
    from equipoise.data.fetch import silent, terms_of

    if as_json:
        files = fetch_files(name, path, silent, mirror)
        lines = [{"path": str(file.path), "bytes": file.n_bytes, "is_new": file.is_new} for file in files]
        print_json({"name": name, "files": lines, "terms": terms_of(name)})
        return
    _print_fetched(name, _with_progress(name, path, mirror), terms_of(name))


def _with_progress(name: str, path: Path | None, mirror: str | None) -> list[Fetched]:
    """Fetch with a bar per file on the terminal; without one, rich prints the bars once, at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from equipoise.data.fetch import fetch as fetch_files

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        return fetch_files(name, path, _on_bars(bars), mirror)


def _on_bars(bars: Any) -> Progress:
    tasks: dict[str, Any] = {}

    def show(file: str, done: int, total: int | None) -> None:
        if file not in tasks:
            tasks[file] = bars.add_task(file, total=total)
        bars.update(tasks[file], completed=done, total=total)

    return show


def _print_fetched(name: str, files: list[Fetched], terms: str) -> None:
    if not files:
        typer.echo(f"{name} needs no download: there is nothing to fetch")
    for file in files:
        typer.echo(f"{file.path}  {file.n_bytes} bytes  {'fetched' if file.is_new else 'already there'}, md5 matches")
    if terms:
        typer.echo(f"terms: {terms}")
