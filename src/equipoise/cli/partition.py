"""`equipoise partition`: shows which client owns which samples, before anything is trained.

equipoise partition PRESET [key=value …] -o who.png        a picture
equipoise partition PRESET [key=value …] -o split.csv      the split itself, for partition=file
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Json, Overrides, print_json
from equipoise.cli.shell import offers

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from equipoise.api.partition import PartitionView

MOST_CLASSES, MOST_CLIENTS = 20, 40
SHADES = ("·", "░", "▒", "▓", "█")
BLUES = ("grey23", "#9fd4bb", "#51b8bd", "#2474b0", "#253494")
"""Backgrounds for 0 and for each quarter of √(count / largest count)."""


def partition(
    preset: Annotated[
        str,
        typer.Argument(
            help="A preset (see `equipoise presets`) or a YAML file.", show_default=False, autocompletion=offers.presets
        ),
    ],
    overrides: Overrides = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the picture (.html, .svg, .png, .pdf, .json) or the split (.csv, .tsv, .parquet, .npy).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show which client owns which samples: the partition, its realised skew and its fingerprint.

    [bold]Examples[/]

      equipoise partition fedavg alpha=0.05 -o who.png

      equipoise partition fedavg partition=shards num_clients=20 --json

      equipoise partition fedavg alpha=0.05 -o split.csv
    """
    from equipoise.api.partition import partition as view_of

    view = view_of(preset, overrides or [])
    if output is not None:
        view.save(output)
    if as_json:
        print_json(view.to_json())
    else:
        from rich.console import Console

        show(view, Console())
        if output is not None:
            typer.echo(f"written: {output}")


def show(view: PartitionView, console: Console) -> None:
    """The table of counts if it fits, then checks and measurements."""
    K, C = view.n_clients, len(view.classes)
    if K <= MOST_CLIENTS and C <= MOST_CLASSES:
        console.print(_grid(view, console.width))
    else:
        console.print(f"{K} clients × {C} classes: too many to print; -o FILE draws them, --json lists them")
    console.print(_facts(view))
    if view.warnings:
        console.print(*view.warnings, style="bold red")


def _grid(view: PartitionView, width: int) -> Table:
    """One row per client: counts on shaded cells, or shades alone if counts do not fit."""
    from rich import box
    from rich.table import Table

    most = int(view.counts.max())
    digits = max(3, len(str(most)))
    fits = 18 + (digits + 1) * len(view.classes) <= width
    cell = _number if fits else _shade
    table = Table(box=box.SIMPLE_HEAD, padding=0, title=f"{view.name}: images per client")
    table.add_column("client", justify="right")
    for label, name in enumerate(view.classes):
        table.add_column(name[:digits] if fits else str(label), justify="right", no_wrap=True)
    table.add_column(" total", justify="right")
    for client, row in enumerate(view.counts):
        table.add_row(str(client), *(cell(int(n), most) for n in row), f" {row.sum()}")
    return table


def _level(count: int, most: int) -> int:
    return 0 if count == 0 else 1 + min(3, int(4 * (count / most) ** 0.5))


def _shade(count: int, most: int) -> Text:
    from rich.text import Text

    level = _level(count, most)
    return Text(SHADES[level] * 2, style=BLUES[level])


def _number(count: int, most: int) -> Text:
    from rich.text import Text

    level = _level(count, most)
    ink = "white" if level >= 3 else "black"
    return Text(str(count), style=f"{ink} on {BLUES[level]}") if count else Text(SHADES[0], style=BLUES[0])


def _facts(view: PartitionView) -> Table:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in view.facts().items():
        table.add_row(name, value)
    return table
