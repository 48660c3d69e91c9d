"""equipoise methods"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from equipoise.cli.options import Json, Name, about, named, print_list, titled

if TYPE_CHECKING:
    from rich.console import Console


def methods(name: Name = None, as_json: Json = False) -> None:
    """List the methods, or show one: its five answers, and its settings with their defaults."""
    print_list(named(described(), name, "method"), _show, as_json)


def _show(console: Console, entry: Mapping[str, Any]) -> None:
    from rich.markup import escape

    console.print(f"{titled(entry)}  {escape(entry['summary'])}")
    console.print(f"    {entry['answers']}", style="dim", markup=False)
    for key, setting in entry["parameters"].items():
        console.print(f"    method.{key}={setting['default']}  {setting['description']}")


def described() -> list[dict[str, Any]]:
    from equipoise.core.registry import METHODS

    return [
        {
            **about(entry),
            "answers": entry.doc.partition("\n\n")[2].strip(),
            "parameters": dict(_parameters(entry.options)),
        }
        for entry in METHODS
    ]


def _parameters(options: type[Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting with its default; nested settings by dotted names."""
    from equipoise.core.options import Options

    for name, field in options.model_fields.items():
        if isinstance(field.default, Options):
            yield from _parameters(type(field.default), f"{path}{name}.")
        elif name != "name":
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            yield f"{path}{name}", {"default": default, "description": field.description}
