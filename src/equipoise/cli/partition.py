"""`equipoise partition`: show who owns what, before anything is trained.

equipoise partition PRESET [key=value …] -o who.png        a picture
equipoise partition PRESET [key=value …] -o split.csv      the split itself, for partition=file
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import Json, Overrides, print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from equipoise.data.splits import Splits
    from equipoise.partition.divide import Partition

MOST_CLASSES, MOST_CLIENTS = 20, 40
SHADES = ("·", "░", "▒", "▓", "█")
BLUES = ("grey23", "#9fd4bb", "#51b8bd", "#2474b0", "#253494")
"""Backgrounds for 0 and for each quarter of √(count / largest count)."""


def partition(
    preset: Annotated[
        str, typer.Argument(help="A preset (see `equipoise presets`) or a YAML file.", show_default=False)
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
    """Show who owns what: the partition of a run, its realised skew and its fingerprint.

    [bold]Examples[/]

      equipoise partition fedavg alpha=0.05 -o who.png

      equipoise partition fedavg partition=shards num_clients=20 --json

      equipoise partition fedavg alpha=0.05 -o split.csv
    """
    from equipoise.config.blocks import InteractionOptions
    from equipoise.config.loader import load
    from equipoise.core.errors import ConfigError
    from equipoise.data.splits import load_splits
    from equipoise.partition.allot import partition_of

    request = load(preset, overrides or ())
    config = request.config
    if isinstance(config.data, InteractionOptions):
        fix = f"`equipoise data check {config.data.name}` shows users, items and splits"
        raise ConfigError("every user is a client of its own: there are no classes to divide", where="data", fix=fix)
    splits = load_splits(config.data, config.seed, request.data_path)
    divided = partition_of(config.partition, splits, config.seed, request.data_path)
    if output is not None:
        write(divided, splits, getattr(config.partition, "alpha", None), output)
    if as_json:
        print_json(as_record(divided))
    else:
        from rich.console import Console

        show(divided, splits.classes, Console())
        if output is not None:
            typer.echo(f"written: {output}")


def write(divided: Partition, splits: Splits, alpha: float | None, path: Path) -> None:
    """The split itself where the suffix is that of a table, otherwise the picture."""
    from equipoise.partition.allot import origin_of
    from equipoise.partition.split_rows import WRITTEN, owners_of, write_rows
    from equipoise.report.files import writing

    if path.suffix.lower() not in WRITTEN:
        draw(divided, splits.classes, alpha, path)
        return
    owner = owners_of(divided, origin_of(splits))
    with writing(path):
        write_rows(path, owner, divided.ids)


def draw(divided: Partition, classes: Sequence[str], alpha: float | None, path: Path) -> None:
    from equipoise.report.files import save
    from equipoise.report.partition_chart import caption, chart

    K, C = len(divided.indices), divided.counts.shape[1]
    line = caption(divided.name, divided.fingerprint, divided.check.overlap, alpha)
    if divided.is_sampled:
        line += f" · {_counted(divided)}"
    save(chart(divided.counts, f"Who owns what: {K} clients, {C} classes", classes, line), path)


def as_record(divided: Partition) -> dict[str, Any]:
    """The JSON answer."""
    return {
        "name": divided.name,
        "clients": len(divided.indices),
        "samples": round(divided.skew["samples"]),
        "fingerprint": divided.fingerprint,
        "disjoint": divided.check.disjoint,
        "covering": divided.check.covering,
        "overlap": divided.check.overlap,
        "skew": divided.skew,
        "counts": divided.counts.tolist(),
    }


def show(divided: Partition, classes: Sequence[str], console: Console) -> None:
    """The table of counts where it fits, then what was checked and measured."""
    K, C = len(divided.indices), divided.counts.shape[1]
    if K <= MOST_CLIENTS and C <= MOST_CLASSES:
        console.print(_grid(divided, classes, console.width))
    else:
        console.print(f"{K} clients × {C} classes: too many to print; -o FILE draws them, --json lists them")
    console.print(_facts(divided))
    if divided.overlaps:
        from equipoise.partition.divide import events

        console.print(*(event.message for event in events(divided)), style="bold red")


def _counted(divided: Partition) -> str:
    return f"the first {len(divided.counts)} of {len(divided.indices)} clients"


def _grid(divided: Partition, classes: Sequence[str], width: int) -> Table:
    """One row per client: counts on shaded cells, or shades alone where counts would not fit."""
    from rich import box
    from rich.table import Table

    most = int(divided.counts.max())
    digits = max(3, len(str(most)))
    fits = 18 + (digits + 1) * len(classes) <= width
    cell = _number if fits else _shade
    table = Table(box=box.SIMPLE_HEAD, padding=0, title=f"{divided.name}: images per client")
    table.add_column("client", justify="right")
    for label, name in enumerate(classes):
        table.add_column(name[:digits] if fits else str(label), justify="right", no_wrap=True)
    table.add_column(" total", justify="right")
    for client, row in enumerate(divided.counts):
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


def _facts(divided: Partition) -> Table:
    from rich.table import Table

    check, skew = divided.check, divided.skew
    sizes = " / ".join(f"{skew[f'size_{name}']:.0f}" for name in ("min", "mean", "max"))
    facts = {
        "fingerprint": divided.fingerprint,
        "disjoint": "yes" if check.disjoint else f"NO: {check.overlap:.1%} of the samples on several clients",
        "covering": "yes" if check.covering else f"NO: {check.unowned:.1%} of the samples on no client",
        "images per client": f"{sizes} (min / mean / max)",
        "classes per client": f"{skew['classes']:.2f} of {divided.counts.shape[1]}",
        "entropy": f"{skew['entropy']:.3f} bits, {skew['entropy_normalised']:.1%} of an even mix",
        "EMD to the whole": f"{skew['emd']:.3f} (0 alike … 2 disjoint)",
    }
    if divided.ids:
        facts["clients"] = ", ".join(f"{client} = {name}" for client, name in enumerate(divided.ids[:MOST_CLIENTS]))
    if divided.is_sampled:
        facts["counted"] = f"{_counted(divided)}; overlap and gaps are expected values"
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    return table
