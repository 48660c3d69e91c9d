"""How `equipoise data` shows what it found, to people."""

from __future__ import annotations

from typing import Any

import typer


def print_overview(lines: list[dict[str, Any]]) -> None:
    """One row per set."""
    _table(["name", "holds", "size", "found"], [[line["name"], *_holds(line), _found(line)] for line in lines])


def print_images(report: dict[str, Any]) -> None:
    low, high = report["range"]
    typer.echo(f"{report['name']}: {_shape(report['shape'])}, {len(report['classes'])} classes, values {low} to {high}")
    typer.echo(f"train channels: mean {_decimals(report['mean'])}, standard deviation {_decimals(report['std'])}")
    rows = [
        [part, str(split["count"]), str(split["published"] or "–"), f"{min(split['labels'])} to {max(split['labels'])}"]
        for part, split in report["splits"].items()
    ]
    _table(["split", "images", "published", "per class"], rows)
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


def _holds(line: dict[str, Any]) -> list[str]:
    """What one unit of a set is, and how many there are."""
    if line["kind"] == "images" and line["classes"] is None:
        return ["images", f"`equipoise data check {line['name']}`"]
    if line["kind"] == "images":
        return [f"{line['classes']} classes, {_shape(line['shape'])}", f"{line['train']} + {line['test']} images"]
    if line["interactions"] is None:
        return ["interactions", "as many as the file has"]
    return [f"{line['users']} users, {line['items']} items", f"{line['interactions']} interactions"]


def _found(line: dict[str, Any]) -> str:
    return str(line["where"] or f"no; equipoise data fetch {line['name']}")


def _shape(shape: list[int]) -> str:
    return "×".join(map(str, shape))


def _decimals(values: list[float]) -> str:
    return " ".join(f"{value:.4f}" for value in values)
