"""The callbacks of arguments and options: what can stand there. The shell keeps what begins with the typed word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from equipoise.cli.shell.table import Table

LISTS = {"methods": "method", "balances": "balance", "rules": "rule", "check": "data", "fetch": "data"}
"""Command → the registry that its argument names something of."""


def presets(incomplete: str) -> list[str]:
    return [name for name, settings in _table()["presets"].items() if settings is not None]


def presets_and_sweeps(incomplete: str) -> list[str]:
    return list(_table()["presets"])


def settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Keys and values after a preset: `equipoise run fedprox method.m…`."""
    from equipoise.cli.shell.settings import offered

    given = ctx.params.get("overrides") or []
    return offered(_table(), ctx.params.get("preset") or ctx.params.get("source"), given, incomplete)


def engine_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_block("engine", ctx.params.get("engine"), incomplete)


def data_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_block("data", ctx.params.get("name"), incomplete)


def _of_block(block: str, name: str | None, incomplete: str) -> list[str]:
    """Keys and values of one block, under that name, or under any."""
    from equipoise.cli.shell.settings import offered

    names = [name] if name else _table()["names"][block]
    found = [each for one in names for each in offered(_table(), None, [f"{block}={one}"], incomplete)]
    return list(dict.fromkeys(each for each in found if each.startswith(f"{block}.")))


def listed(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of what the command lists."""
    return list(_table()["names"][LISTS[str(ctx.info_name)]])


def engines(incomplete: str) -> list[str]:
    return list(_table()["names"]["engine"])


def predictors(incomplete: str) -> list[str]:
    return ["all", *_table()["names"]["server.predict"]]


def merges(incomplete: str) -> list[str]:
    return _choices("server.merge")


def sums(incomplete: str) -> list[str]:
    return _choices("server.sums")


def common(incomplete: str) -> list[str]:
    return _choices("server.common")


def _choices(key: str) -> list[str]:
    return [value for value in _table()["keys"][key][1] if value != "null"]


def runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """`latest`, and ids of the store that the command names; those that are already on the line are left out."""
    from equipoise.store.ids import names

    there = [*(ctx.params.get("runs") or []), *(ctx.params.get("targets") or [])]
    return [name for name in ["latest", *names("runs", ctx.params.get("store"))] if name not in there]


def sweeps(ctx: typer.Context, incomplete: str) -> list[str]:
    from equipoise.store.ids import names

    return names("sweeps", ctx.params.get("store"))


def statuses(incomplete: str) -> list[str]:
    return ["running", "done", "failed", "stopped", "killed"]


def _table() -> Table:
    from equipoise.cli.shell.kept import table

    return table()
