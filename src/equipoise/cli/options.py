"""Options that several commands share, and how results are printed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.shell import offers

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
StoreAt = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="EQUIPOISE_STORE",
        help="SQLite file or postgresql:// URL; runs/equipoise.db unless given.",
        show_default=False,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]…",
        help="Settings, e.g. partition.alpha=0.05 data=cifar10 rounds=3.",
        show_default=False,
        autocompletion=offers.settings,
    ),
]

EventsTo = Annotated[
    Path | None,
    typer.Option("--tensorboard", metavar="FOLDER", help="Also write event files for TensorBoard.", show_default=False),
]
Runs = Annotated[
    list[str] | None,
    typer.Argument(help="Run ids, or the beginnings of ids.", show_default=False, autocompletion=offers.runs),
]
SweepName = Annotated[
    str | None,
    typer.Option("--sweep", help="All finished runs of this sweep.", show_default=False, autocompletion=offers.sweeps),
]


Name = Annotated[str | None, typer.Argument(help="Only this one.", show_default=False, autocompletion=offers.listed)]


class Language(StrEnum):
    en = "en"
    zh = "zh"


def named(entries: list[dict[str, Any]], name: str | None, kind: str) -> list[dict[str, Any]]:
    """All entries of a list, or the one of that name or alias."""
    from equipoise.core.errors import Problem, UnknownName
    from equipoise.core.registry import suggestion

    known = {key: entry for entry in entries for key in (entry.get("name") or entry["code"], *entry.get("aliases", ()))}
    if name is None:
        return entries
    if name not in known:
        raise UnknownName([Problem(kind, f"{kind} '{name}' is not known{suggestion(name, list(known))}")])
    return [known[name]]


Show = Callable[[Any, Mapping[str, Any]], None]
"""(console, entry) → nothing: prints one listed thing for people."""


def print_list(entries: list[dict[str, Any]], show: Show, as_json: bool) -> None:
    """Print registered things, as JSON or for people; plugins that cannot be loaded are reported on stderr."""
    say_broken()
    if as_json:
        print_json(entries)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for entry in entries:
        show(console, entry)


def about(entry: Any) -> dict[str, Any]:
    """The fields that all lists share."""
    return {
        "name": entry.name,
        "aliases": list(entry.aliases),
        "package": entry.package,
        "summary": entry.summary,
    }


def titled(entry: Mapping[str, Any]) -> str:
    """The title of a listed thing: its name, aliases, and the package it comes from."""
    from rich.markup import escape

    aliases = f" ({', '.join(entry['aliases'])})" if entry.get("aliases") else ""
    package = f"  [cyan]{escape(entry['package'])}[/]" if entry["package"] else ""
    return f"[bold]{escape(entry.get('name') or entry['code'])}[/]{escape(aliases)}{package}"


def say_broken() -> None:
    """Report on stderr the installed plugins that cannot be loaded."""
    from equipoise.core.plugins import installed

    for broken in installed():
        typer.echo(f"! {broken}", err=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout; NaN becomes null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
