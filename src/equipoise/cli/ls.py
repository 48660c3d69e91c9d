"""equipoise ls"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Json, StoreAt, print_json, sweep_members


def ls(
    store: StoreAt = None,
    sweep: Annotated[str | None, typer.Option("--sweep", help="Only the runs of this sweep.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")] = 50,
    as_json: Json = False,
) -> None:
    """List runs, newest first: id, status, method, data, seed, how far, and the headline figure."""
    from equipoise.report.runs import listed
    from equipoise.store import read
    from equipoise.store.database import default_location, open_existing

    if store is None and not Path(default_location()).exists():
        lines = []
    else:
        with open_existing(store) as opened:
            members = {run_id for _, run_id in sweep_members(opened, sweep)} if sweep is not None else None
            chosen = [run for run in read.runs(opened) if members is None or run.run_id in members]
            lines = [listed(opened, run) for run in chosen[:limit]]
    if as_json:
        print_json(lines)
    elif not lines:
        typer.echo(f"no runs of sweep '{sweep}'" if sweep else "no runs yet; try: equipoise run fedavg")
    else:
        _print(lines)


def _print(lines: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    metrics = {line["metric"] for line in lines}
    run_id = Column("run", min_width=max(len(line["run_id"]) for line in lines), no_wrap=True)  # whole, to be copied
    headline = Column(metrics.pop() if len(metrics) == 1 else "headline", no_wrap=True)
    between = [Column(name, overflow="fold") for name in ("status", "method", "data", "seed", "steps")]
    table = Table(run_id, *between, headline, box=None, header_style="bold")
    for line in lines:
        metric = f" {line['metric']}" if metrics else ""
        value = "–" if line["value"] is None else f"{100 * line['value']:.2f} %{metric}"
        steps = f"{line['steps']['done']}/{line['steps']['planned']}"
        table.add_row(line["run_id"], line["status"], line["method"], line["data"], str(line["seed"]), steps, value)
    Console().print(table)
