"""equipoise presets"""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.options import Json, print_json
from equipoise.cli.shell import offers


def presets(
    name: Annotated[
        str | None,
        typer.Argument(help="Print this preset's file.", show_default=False, autocompletion=offers.presets_and_sweeps),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the presets that come with the product and with plugins, or print one.

    [bold]Example[/]

      equipoise presets fedavg > mine.yaml
    """
    from equipoise.config.loader import find_preset, preset_files, read_yaml

    if name is not None:
        path = find_preset(name)
        if as_json:
            print_json(read_yaml(path))
        else:
            typer.echo(path.read_text(encoding="utf-8"), nl=False)
        return
    entries = [_entry(known, path.read_text(encoding="utf-8")) for known, path in preset_files().items()]
    if as_json:
        print_json(entries)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("preset", "kind", "what it is", box=None, header_style="bold")
    for entry in entries:
        table.add_row(entry["name"], entry["kind"], entry["summary"])
    Console().print(table)


def _entry(name: str, text: str) -> dict[str, str]:
    """The file's first line is its summary and the command that runs it."""
    summary, _, command = (text.splitlines() or [""])[0].lstrip("# ").partition("   ")
    kind = "sweep" if command.strip().startswith("equipoise sweep") else "run"
    return {"name": name, "kind": kind, "summary": summary.strip(), "command": command.strip()}
