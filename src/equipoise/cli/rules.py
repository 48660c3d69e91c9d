"""equipoise rules"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.cli.options import Json, Name, named, print_list, titled

if TYPE_CHECKING:
    from rich.console import Console


def rules(name: Name = None, as_json: Json = False) -> None:
    """List the rules of the diagnosis, or show one: what it reads, its limits, cause and remedies."""
    print_list(named(described(), name, "rule"), _show, as_json)


def _show(console: Console, entry: Mapping[str, Any]) -> None:
    from rich.markup import escape

    when = ", ".join(entry["when"])
    console.print(f"{titled(entry)}  {entry['severity']}, {when}  {escape(entry['failure'])}")
    console.print(f"    reads   {escape(', '.join(entry['reads']))}", style="dim")
    for key, value in entry["limits"].items():
        console.print(f"    limit   {key}={value:g}  {escape(entry['meanings'][key])}", style="dim")
    for remedy in entry["remedies"]:
        console.print(f"    remedy  {escape(remedy['text'])}  [bold]{escape(remedy['settings'])}[/]")
    console.print()


def described() -> list[dict[str, Any]]:
    from equipoise.diagnose.rule import RULES

    return [
        {
            "code": entry.name,
            "package": entry.package,
            "severity": entry.make.severity,
            "when": list(entry.make.when),
            "failure": entry.make.doc.split("\n", 1)[0],
            "signal": _signal(entry.make.doc),
            "reads": list(entry.make.reads),
            "limits": entry.make.defaults,
            "meanings": {limit.name: limit.meaning for limit in entry.make.limits},
            "cause": entry.make.cause,
            "remedies": [{"text": each.text, "settings": each.settings} for each in entry.make.remedies],
        }
        for entry in RULES
    ]


def _signal(doc: str) -> str:
    """The indented block after the first line."""
    block = doc.partition("\n\n")[2].partition("\n\n")[0]
    return "\n".join(line.strip() for line in block.splitlines())
