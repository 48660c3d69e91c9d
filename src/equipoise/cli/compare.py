"""equipoise compare"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Json, Runs, StoreAt, SweepName, print_json

if TYPE_CHECKING:
    from equipoise.report.comparison import Comparison


class Format(StrEnum):
    text = "text"
    md = "md"
    latex = "latex"
    csv = "csv"
    json = "json"


def compare(
    runs: Runs = None,
    sweep: SweepName = None,
    metric: Annotated[str | None, typer.Option("--metric", help="A share on test; default: the headline.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.text,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Compare runs: mean ± deviation over seeds, final and best by validation, paired differences.

    Runs that differ only in their seed share a row. Differences are to the first row, over common seeds, with a 95 %
    interval; recommenders that ranked the same items are compared user by user. "Best" is chosen on the validation
    split, never on test.

    [bold]Examples[/]

      equipoise compare --sweep studies/demo-policies --format latex

      equipoise compare fedavg-7k fedprox-3x

      equipoise compare --sweep studies/recommendation --metric hr@10/uni100
    """
    from equipoise.api.compare import compare as side_by_side

    compared = side_by_side(runs, sweep=sweep, metric=metric, store=store)
    print_comparison(compared.comparison, Format.json if as_json else form)


def print_comparison(comparison: Comparison, form: Format = Format.text) -> None:
    from equipoise.report import table

    if form is Format.json:
        print_json(comparison.to_json())
        return
    writers = {Format.md: table.markdown, Format.latex: table.latex, Format.csv: table.as_csv}
    if form in writers:
        typer.echo(writers[form](comparison))
        return
    _print_table(comparison)
    for remark in table.remarks(comparison):
        typer.echo(remark)
    typer.echo(f"{table.metrics(comparison)} in per cent; * the 95 % interval leaves out zero")
    if len(comparison.lines) > 1:
        typer.echo(f"differences are paired over {' or '.join(table.paired_over(comparison))}, in points")


LEFT_OUT = ("down", "best", "up")
"""Columns that are dropped in a narrow terminal, in this order."""


def _print_table(comparison: Comparison) -> None:
    """Lines are not wrapped and labels not cut: columns without room are left out, with a note."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from equipoise.report import table

    console, names = Console(), table.columns(comparison)
    rows = [dict(zip(names, row, strict=True)) for row in table.rows(comparison)]
    widths = {name: max(len(table.HEADER[name]), *(len(row[name].text) for row in rows)) for name in names}
    shown = list(names)
    for name in LEFT_OUT:
        if sum(widths[each] + 1 for each in shown) - 1 > console.width:
            shown.remove(name)
    grid = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for name in shown:
        grid.add_column(table.HEADER[name], no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(row[name].text, "bold" if row[name].is_bold else "") for name in shown))
    console.print(grid)
    if missing := [table.HEADER[name] for name in names if name not in shown]:
        typer.echo(f"left out for want of room: {', '.join(missing)}; --format md has them")
