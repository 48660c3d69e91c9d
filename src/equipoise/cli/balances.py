"""equipoise balances"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from equipoise.cli.options import Json, Name, about, named, print_list, titled

if TYPE_CHECKING:
    from rich.console import Console


def balances(name: Name = None, as_json: Json = False) -> None:
    """List the λ policies, or show one: formula, settings, fixed point, and whether it works."""
    print_list(named(described(), name, "balance"), _show, as_json)


def _show(console: Console, entry: Mapping[str, Any]) -> None:
    from rich.markup import escape

    console.print(f"{titled(entry)}  {escape(entry['summary'])}")
    console.print("\n".join(f"    {line}" for line in entry["formula"].splitlines()), style="dim", markup=False)
    console.print(f"    {escape(entry['status'])}")
    settings = "  ".join(_settings("balance", entry["parameters"]))
    console.print(f"    {escape(settings)}\n" if settings else "")


def _settings(path: str, parameters: dict[str, Any]) -> Iterator[str]:
    """balance.lam=5.0, and the settings of nested blocks one by one."""
    for name, default in parameters.items():
        if isinstance(default, dict):
            yield from _settings(f"{path}.{name}", default)
        else:
            yield f"{path}.{name}={default}"


def described() -> list[dict[str, Any]]:
    from equipoise.core.registry import BALANCES

    return [
        {
            **about(entry),
            **_parts(entry.doc),
            "parameters": dict(_defaults(entry.options)),
        }
        for entry in BALANCES
    ]


def _defaults(options: type[Any]) -> Iterator[tuple[str, Any]]:
    from equipoise.core.options import Options

    for name, field in options.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if name != "name":
            yield name, default.model_dump() if isinstance(default, Options) else default


def _parts(doc: str) -> dict[str, str]:
    """The indented block is the formula, its line of λ the fixed point; the rest follows "Status:"."""
    _, _, rest = doc.partition("\n\n")
    formula, _, status = rest.partition("\n\n")
    lines = [line.strip() for line in formula.splitlines()]
    fixed = next((line.split(maxsplit=1)[1] for line in lines if line.startswith("λ")), "")
    return {
        "formula": "\n".join(lines),
        "fixed_point": fixed.strip(),
        "status": " ".join(status.split()).removeprefix("Status: "),
    }
