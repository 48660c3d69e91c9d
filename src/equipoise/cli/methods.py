"""equipoise methods"""

from __future__ import annotations

from typing import Any

from equipoise.cli.options import Json, print_json


def methods(as_json: Json = False) -> None:
    """List the methods: name, the five answers, and settings with their defaults, from the code itself."""
    entries = described()
    if as_json:
        print_json(entries)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for entry in entries:
        aliases = f" ({', '.join(entry['aliases'])})" if entry["aliases"] else ""
        console.print(f"[bold]{entry['name']}[/]{aliases}  {entry['summary']}")
        console.print(f"    {entry['answers']}", style="dim")
        for name, about in entry["parameters"].items():
            console.print(f"    method.{name}={about['default']}  {about['description']}")


def described() -> list[dict[str, Any]]:
    from equipoise.core.registry import METHODS

    return [
        {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "summary": entry.summary,
            "answers": entry.doc.partition("\n\n")[2].strip(),
            "parameters": {
                name: {"default": field.default, "description": field.description}
                for name, field in entry.options.model_fields.items()
                if name != "name"
            },
        }
        for entry in METHODS
    ]
