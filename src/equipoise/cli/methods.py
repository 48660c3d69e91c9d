"""equipoise methods"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.cli.options import Json, Name, named, print_json


def methods(name: Name = None, as_json: Json = False) -> None:
    """List the methods, or show one: its five answers, and its settings with their defaults."""
    entries = named(described(), name, "method")
    if as_json:
        print_json(entries)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for entry in entries:
        aliases = f" ({', '.join(entry['aliases'])})" if entry["aliases"] else ""
        console.print(f"[bold]{entry['name']}[/]{aliases}  {entry['summary']}")
        console.print(f"    {entry['answers']}", style="dim")
        for key, about in entry["parameters"].items():
            console.print(f"    method.{key}={about['default']}  {about['description']}")


def described() -> list[dict[str, Any]]:
    from equipoise.core.registry import METHODS

    return [
        {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "summary": entry.summary,
            "answers": entry.doc.partition("\n\n")[2].strip(),
            "parameters": dict(_parameters(entry.options)),
        }
        for entry in METHODS
    ]


def _parameters(options: type[Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting with its default; those of a block under its name and a dot."""
    from equipoise.core.options import Options

    for name, field in options.model_fields.items():
        if isinstance(field.default, Options):
            yield from _parameters(type(field.default), f"{path}{name}.")
        elif name != "name":
            yield f"{path}{name}", {"default": field.default, "description": field.description}
