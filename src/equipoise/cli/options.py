"""Options that several commands share, and how results are printed."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

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
        metavar="[KEY=VALUE]…", help="Settings, e.g. partition.alpha=0.05 data=cifar10 rounds=3.", show_default=False
    ),
]


def print_json(value: Any) -> None:
    """One JSON document on stdout; NaN, which JSON has not, becomes null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
