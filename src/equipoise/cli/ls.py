"""equipoise ls"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.shell import offers

LEAST = ("status", "steps")
"""Columns that are always shown, beside the id and the figure."""
MORE = ("method", "data", "seed")
"""Columns that are shown if there is room, in this order."""


def ls(
    store: StoreAt = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="Only the runs of this sweep.", autocompletion=offers.sweeps)
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            help="Only runs that are done, running, failed, stopped or killed.",
            autocompletion=offers.statuses,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")] = 50,
    as_json: Json = False,
) -> None:
    """List runs, newest first: id, status, checkpoints done, method, data, seed, and the headline metric.

    A run that was fused from the clients of another run is listed below that run.
    """
    from equipoise.api.choose import listed

    lines = listed(status=status, sweep=sweep, limit=limit, store=store)
    if as_json:
        print_json(lines)
    elif not lines:
        typer.echo(_nothing(sweep, status))
    else:
        _print(nested(lines))


def _nothing(sweep: str | None, status: str | None) -> str:
    kind = f"{status} runs" if status else "runs"
    return f"no {kind} of sweep '{sweep}'" if sweep else f"no {kind} yet; try: equipoise run fedavg"


def nested(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every run followed by the runs fused from it, recursively; runs whose source is not listed are top-level."""
    listed = {line["run_id"] for line in lines}

    def with_fused(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield line
        for below in lines:
            if below["fused_from"] == line["run_id"]:
                yield from with_fused({**below, "is_below": True})

    return [each for line in lines if line["fused_from"] not in listed for each in with_fused(line)]


def _print(lines: list[dict[str, Any]]) -> None:
    """Lines are not wrapped and ids not cut: columns without room are left out."""
    from rich.console import Console
    from rich.table import Table

    metrics = {line["metric"] for line in lines}
    console, chosen = Console(), list(LEAST)

    def widths(rows: list[dict[str, str]], *names: str) -> int:
        return sum(max(len(row[name]) for row in rows) + 1 for name in names)

    rows = [_cells(line, has_metric=len(metrics) > 1) for line in lines]
    if widths(rows, "run", *LEAST, "value") > console.width:
        rows = [_cells(line, has_metric=False) for line in lines]
    titles = {name: name for name in rows[0]} | {"value": metrics.pop() if len(metrics) == 1 else "headline"}
    for name in MORE:
        if widths([titles, *rows], "run", *chosen, name, "value") <= console.width:
            chosen.append(name)
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    names = ["run", *[name for name in rows[0] if name in chosen], "value"]
    for name in names:
        table.add_column(titles[name], no_wrap=True, min_width=widths(rows, name) - 1)
    for row in rows:
        table.add_row(*(row[name] for name in names))
    console.print(table)


def _cells(line: dict[str, Any], has_metric: bool) -> dict[str, str]:
    metric = f" {line['metric']}" if has_metric else ""
    return {
        "run": f"{'└ ' if line.get('is_below') else ''}{line['run_id']}",
        "status": line["status"],
        "method": line["method"],
        "data": line["data"],
        "seed": str(line["seed"]),
        "steps": f"{line['steps']['done']}/{line['steps']['planned']}",
        "value": "–" if line["value"] is None else f"{100 * line['value']:.2f} %{metric}",
    }
