"""Prints the results of `equipoise data` for people."""

from __future__ import annotations

from typing import Any

import typer


def print_overview(lines: list[dict[str, Any]]) -> None:
    """One row per set."""
    _table(
        ["name", "holds", "size", "found"],
        [[line["name"], line["holds"], line["size"], _found(line)] for line in lines],
    )


def print_samples(report: dict[str, Any]) -> None:
    """A report on labelled samples; channel statistics only if there are channels."""
    values = f", values {report['range'][0]} to {report['range'][1]}" if "range" in report else ""
    typer.echo(f"{report['name']}: {_shape(report['shape'])}, {len(report['classes'])} classes{values}")
    if "mean" in report:
        typer.echo(f"train channels: mean {_decimals(report['mean'])}, standard deviation {_decimals(report['std'])}")
    rows = [
        [part, str(split["count"]), str(split["published"] or "–"), f"{min(split['labels'])} to {max(split['labels'])}"]
        for part, split in report["splits"].items()
    ]
    _table(["split", report["kind"], "published", "per class"], rows)
    _print_files(report)


def print_interactions(report: dict[str, Any]) -> None:
    lengths, times = report["lengths"], report["times"]
    rows = [[what, str(line["count"]), str(line["published"] or "–")] for what, line in report["counts"].items()]
    _table([report["name"], "count", "published"], rows)
    typer.echo(f"histories: {lengths['min']} to {lengths['max']} items, median {lengths['median']:g}")
    known = f"{times['first']} to {times['last']}, {times['ties']:.1%} of neighbours equal" if times else "unknown"
    typer.echo(f"moments: {known}; density {report['density']:.2%}")
    parts = [f"{key} {value}" for key, value in report["split"].items() if key != "name"]
    typer.echo(f"split: {report['split']['name']}, {', '.join(parts)}")
    checks, notes = report["features"].values(), report["notes"]
    for line in (*(check["text"] for check in checks), *(f"note: {note}" for note in notes)):
        typer.echo(line)
    _print_files(report)


def _print_files(report: dict[str, Any]) -> None:
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


def _shape(shape: list[int]) -> str:
    return "×".join(map(str, shape))


def _decimals(values: list[float]) -> str:
    return " ".join(f"{value:.4f}" for value in values)
