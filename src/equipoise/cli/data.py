"""`equipoise data`: which image sets there are, whether the files are whole, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import Json, print_json

if TYPE_CHECKING:
    from equipoise.data.fetch import Fetched, Progress

app = typer.Typer(
    name="data",
    no_args_is_help=True,
    help="Image sets: which there are, whether their files are whole, and how to get them. "
    "Files are looked for in --path, otherwise in the folder that EQUIPOISE_DATA names.",
)

Folder = Annotated[Path | None, typer.Option("--path", help="Data folder; without it, EQUIPOISE_DATA.")]
Name = Annotated[str, typer.Argument(help="A set of `equipoise data list`, as in cifar10.")]


@app.command("list")
def list_sets(path: Folder = None, as_json: Json = False) -> None:
    """Every image set a run can use, with its published size, and where its files were found.

    Sets marked embedded need no file. For the others: `equipoise data fetch NAME`, or bring your own copy.
    """
    from equipoise.data.check import overview

    lines = overview(path)
    if as_json:
        print_json(lines)
        return
    rows = [
        [line["name"], str(line["classes"]), _size(line["shape"]), f"{line['train']} + {line['test']}", _found(line)]
        for line in lines
    ]
    _table(["name", "classes", "size", "train + test", "found"], rows)


@app.command()
def check(name: Name, path: Folder = None, as_json: Json = False) -> None:
    """Read a set from end to end and report what it holds, beside what was published.

    Counts and labels of each split, shape, range and channel statistics, and each file's size and checksum.
    A truncated file or a wrong checksum ends with exit code 2 and says which file.
    """
    from equipoise.data.check import examine

    report = examine(name, path)
    if as_json:
        print_json(report)
    else:
        _print_report(report)


@app.command()
def fetch(
    name: Name,
    path: Folder = None,
    mirror: Annotated[str | None, typer.Option(help="Take the files from this address (or EQUIPOISE_MIRROR).")] = None,
    as_json: Json = False,
) -> None:
    """Download the official files of a set into the data folder and verify their checksums.

    An interrupted download continues where it stopped when the command is given again. Files that are there
    and whole are not fetched again. The sets have terms of their own: read those of the set you use.
    """
    from equipoise.data.fetch import fetch as fetch_files
    from equipoise.data.fetch import silent

    if as_json:
        files = fetch_files(name, path, silent, mirror)
        lines = [{"path": str(file.path), "bytes": file.n_bytes, "is_new": file.is_new} for file in files]
        print_json({"name": name, "files": lines})
        return
    _print_fetched(name, _with_progress(name, path, mirror))


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


def _print_fetched(name: str, files: list[Fetched]) -> None:
    if not files:
        typer.echo(f"{name} is embedded: there is nothing to fetch")
    for file in files:
        typer.echo(f"{file.path}  {file.n_bytes} bytes  {'fetched' if file.is_new else 'already there'}, md5 matches")


def _print_report(report: dict[str, Any]) -> None:
    low, high = report["range"]
    typer.echo(f"{report['name']}: {_size(report['shape'])}, {len(report['classes'])} classes, values {low} to {high}")
    typer.echo(f"train channels: mean {_decimals(report['mean'])}, standard deviation {_decimals(report['std'])}")
    splits = report["splits"].items()
    rows = [
        [part, str(split["count"]), str(split["published"]), f"{min(split['labels'])} to {max(split['labels'])}"]
        for part, split in splits
    ]
    _table(["split", "images", "published", "per class"], rows)
    if report["files"]:
        files = [[line["path"], str(line["bytes"]), line["checksum"]] for line in report["files"]]
        _table(["file", "bytes", "checksum"], files)


def _table(titles: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _found(line: dict[str, Any]) -> str:
    return str(line["where"] or f"no; equipoise data fetch {line['name']}")


def _size(shape: list[int]) -> str:
    return "×".join(str(side) for side in shape)


def _decimals(values: list[float]) -> str:
    return " ".join(f"{value:.4f}" for value in values)
