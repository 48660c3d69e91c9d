"""Settings as a shell offers them: keys while a key is typed, values after "=".

Where one key is left, its value in the preset and its choices are offered too. So a shell does not put a space after
the "=", and the second TAB shows what the setting is now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from equipoise.cli.shell.table import Table

ANY = {"method": "fedavg", "data": "digits"}
"""What names are taken where nothing is known of the request."""


def offered(table: Table, preset: str | None, given: Sequence[str], typed: str) -> list[str]:
    """What can stand in place of the word that is being typed, after that preset and these settings."""
    known = in_force(table, preset, given)
    if "=" in typed:
        key = typed.partition("=")[0]
        return [f"{key}={value}" for value in values(known, table["aliases"].get(key, key))]
    keys = {key for key in known if key.startswith(typed)}
    if typed and not keys:
        keys = {alias for alias in table["aliases"] if alias.startswith(typed)}
    if len(keys) == 1:
        (key,) = keys
        return [f"{key}=", *(f"{key}={value}" for value in values(known, table["aliases"].get(key, key)))]
    return sorted(f"{key}=" for key in keys)


Known = dict[str, tuple[Any, list[str]]]
"""Key → its value now, and its choices."""


def in_force(table: Table, preset: str | None, given: Iterable[str]) -> Known:
    """Every key that the request has, by the names that it chooses."""
    resolved = dict(table["presets"].get(preset or "") or _of_file(preset))
    chosen = _chosen(table, given)
    known: Known = {key: (resolved.get(key, default), listed) for key, (default, listed) in table["keys"].items()}
    for block, entries in table["blocks"].items():
        name = chosen.get(block) or resolved.get(f"{block}.name") or ANY.get(block)
        known[block] = (name, table["names"][block])
        is_as_in_preset = name == resolved.get(f"{block}.name")
        for key, (default, listed) in entries.get(name, {}).items():
            known[key] = (resolved.get(key, default) if is_as_in_preset else default, listed)
    known["server.predict"] = (known["server.predict"][0], table["names"]["server.predict"])
    return known


def _chosen(table: Table, given: Iterable[str]) -> dict[str, str]:
    """The names that settings choose: method=fedprox, or method.name=fedprox."""
    pairs = [text.partition("=")[::2] for text in given]
    return {key.removesuffix(".name"): value for key, value in pairs if key.removesuffix(".name") in table["blocks"]}


def _of_file(preset: str | None) -> dict[str, Any]:
    """The settings of a YAML file of the user's; nothing where it is none, or is wrong: a TAB reports no errors."""
    if preset is None or not Path(preset).is_file():
        return {}
    from equipoise.config.loader import flat, load
    from equipoise.core.errors import EquipoiseError

    try:
        return flat(load(preset).config.model_dump(mode="json"))
    except EquipoiseError:
        return {}


def values(known: Known, key: str) -> list[str]:
    """The choices of a key; without a list, the value it has now."""
    now, listed = known.get(key.removesuffix(".name"), (None, []))
    if listed:
        return listed
    return [] if now is None or isinstance(now, (dict, list)) else [now if isinstance(now, str) else json.dumps(now)]
