"""equipoise rules"""

from __future__ import annotations

from typing import Any

from equipoise.cli.options import Json, print_json


def rules(as_json: Json = False) -> None:
    """List the failures that are looked for: signal, what each rule reads, its limits, cause and remedy."""
    entries = described()
    if as_json:
        print_json(entries)
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for entry in entries:
        console.print(f"[bold]{entry['code']}[/]  {entry['severity']}, {entry['when']}  {escape(entry['failure'])}")
        console.print(f"    reads   {escape(', '.join(entry['reads']))}", style="dim")
        limits = "  ".join(f"{name}={value:g}" for name, value in entry["limits"].items())
        if limits:
            console.print(f"    limits  {limits}", style="dim")
        console.print(f"    remedy  {escape(entry['remedy'])}\n")


def described() -> list[dict[str, Any]]:
    from equipoise.diagnose.limits import LIMITS
    from equipoise.diagnose.rule import RULES

    return [
        {
            "code": entry.name,
            "severity": entry.make.severity,
            "when": entry.make.when,
            "failure": entry.summary,
            "signal": _signal(entry.doc),
            "reads": list(entry.make.reads),
            "limits": dict(LIMITS[entry.name]),
            "cause": entry.make.cause,
            "remedy": entry.make.remedy,
            "override": entry.make.override,
        }
        for entry in RULES
    ]


def _signal(doc: str) -> str:
    """The indented block after the first line."""
    block = doc.partition("\n\n")[2].partition("\n\n")[0]
    return "\n".join(line.strip() for line in block.splitlines())
