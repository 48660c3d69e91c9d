"""equipoise bench"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.options import Json, print_json

WHICH = typer.Argument(metavar="[NAME]…", help="Benchmarks to run; all unless given.", show_default=False)


def bench(
    names: Annotated[list[str] | None, WHICH] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often each side is measured.")] = 5,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where results are added.")] = Path("runs/bench.jsonl"),
    show: Annotated[bool, typer.Option("--list", help="List the benchmarks; run none.")] = False,
    as_json: Json = False,
) -> None:
    """Measure speed as ratios: our way and another way to do the same work, alternating in one run.

    [bold]Examples[/]

      equipoise bench overhead tiny

      equipoise bench --repeats 9
    """
    from rich.console import Console

    from equipoise.bench.benchmarks import NAMES, find

    console = Console(stderr=True, highlight=False)
    if show:
        for name, what in NAMES.items():
            print(f"{name:14}{what}")
        return
    wanted = [(name, find(name)) for name in names or NAMES]
    found: list[dict[str, Any]] = []
    for name, run in wanted:
        console.print(f"{name}: {NAMES[name]}", style="dim")
        try:
            for result in run(repeats):
                found.append(result.to_json())
                keep(output, found[-1])
        except LookupError as error:
            console.print(f"  left out: {error.args[0]}")
    if as_json:
        print_json(found)
    else:
        from equipoise.bench.surroundings import surroundings  # imports torch, as every benchmark does

        print(f"engine.device=auto: {surroundings()['device']}")
        print(table(found))
        for one in found:
            if one["note"]:
                print(f"{one['name']}: {one['note']}")


def keep(path: Path, result: dict[str, Any]) -> None:
    """Append one result, with the machine it was measured on."""
    import json

    from equipoise.bench.surroundings import surroundings

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**surroundings(), **result}, ensure_ascii=False) + "\n")


HEADER = ("benchmark", "ratio", "from … to", "goal", "met", "ours", "theirs", "came out with")


def table(results: Sequence[dict[str, Any]]) -> str:
    """Plain text of any width."""
    rows = [HEADER, *(_row(one) for one in results)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    low, high = one["spread"]
    figures, met = one["figures"], "yes" if one["is_met"] else "no"
    alike = "" if figures is None else f"{figures[0]:.5g} / {figures[1]:.5g}" + ("" if one["is_alike"] else " ≠")
    sides = (f"{one[side]:.3g} {one['unit']}" for side in ("ours", "theirs"))
    return (one["name"], f"{one['ratio']:.3g}", f"{low:.3g} … {high:.3g}", one["goal"], met, *sides, alike)
