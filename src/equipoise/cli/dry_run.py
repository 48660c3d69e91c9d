"""What `run --dry-run` and `sweep --dry-run` print: settings, clients, and what it would cost. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import print_json

if TYPE_CHECKING:
    from equipoise.config.loader import Request
    from equipoise.run.estimate import Estimate
    from equipoise.run.grid import Grid

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Train nothing; print the settings and what the run would cost.")
]


def print_plan(request: Request, as_json: bool) -> None:
    """Print one run: its settings as a preset, and the estimate."""
    from equipoise.config.loader import to_yaml
    from equipoise.run.build import build
    from equipoise.run.estimate import estimate

    found = estimate(build(request.config, request.data_path))
    if as_json:
        print_json({"config": request.config.model_dump(), "estimate": found.to_json()})
        return
    typer.echo(to_yaml(request.config))
    for line in lines(found):
        typer.echo(f"# {line}")


def print_plans(grid: Grid, as_json: bool) -> None:
    """Print a sweep: each row once, and the sum over all cells."""
    from equipoise.report.times import duration_text
    from equipoise.run.build import build
    from equipoise.run.estimate import estimate

    rows: dict[str, list[Any]] = {}
    for cell in grid.cells:
        rows.setdefault(cell.label, []).append(cell.config)
    found = {label: estimate(build(own[0], grid.data_path)) for label, own in rows.items()}
    total = _total([(found[label], len(own)) for label, own in rows.items()])
    if as_json:
        listed = [{"cell": label, "seeds": len(rows[label]), **each.to_json()} for label, each in found.items()]
        print_json({"cells": listed, "runs": len(grid.cells), "seconds": total})
        return
    for label, each in found.items():
        typer.echo(f"{label}  × {len(rows[label])} seeds: {'; '.join(lines(each))}")
    typer.echo(f"{len(grid.cells)} runs{'' if total is None else f', about {duration_text(total)} of one core in all'}")


def _total(rows: Sequence[tuple[Estimate, int]]) -> float | None:
    seconds = [each.seconds * n for each, n in rows if each.seconds is not None]
    return sum(seconds) if len(seconds) == len(rows) else None


def lines(found: Estimate) -> list[str]:
    from equipoise.report.bytes import bytes_text
    from equipoise.report.times import duration_text

    low, middle, high = found.samples
    cost = "cost not estimated" if found.seconds is None else f"about {duration_text(found.seconds)} of training"
    return [
        f"{found.clients:,} clients, {found.cohort:,} at a time, {low:,} to {high:,} samples (median {middle:,.0f})",
        f"{found.parameters:,} parameters, {found.steps:,} local steps, {bytes_text(found.bytes_each_way)} each way",
        cost,
    ]
