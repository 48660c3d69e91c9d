"""Everything that can be named on a command line, as one document of plain values.

names     registry → its names
blocks    block → name → key → [default, choices]
keys      key → [default, choices], of blocks that are always there
presets   preset → key → value, as it would run; null for a sweep
aliases   other name of a key → key
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

Table: TypeAlias = dict[str, Any]
Setting: TypeAlias = tuple[Any, list[str]]
"""The default of a key, and its values if there is a list of them."""
SECTIONS = ("names", "blocks", "keys", "presets", "aliases")


def computed() -> Table:
    """The document, from the code and the plugins that are installed."""
    from equipoise.config.aliases import CANONICAL
    from equipoise.config.named import NAMED, NESTED, PLAIN
    from equipoise.config.schema import Config
    from equipoise.core.registry import PREDICTS, RULES

    registries = {**NAMED, **NESTED, "server.predict": PREDICTS, "rule": RULES}
    blocks = {
        block: {entry.name: dict(settings(entry.options, f"{block}.")) for entry in registry}
        for block, registry in {**NAMED, **NESTED}.items()
    }
    top = {key: each for key, each in settings(Config, "") if "." not in key and key not in {*NAMED, *PLAIN}}
    plain = [settings(options, f"{block}.") for block, options in PLAIN.items()]
    return {
        "names": {name: registry.names() for name, registry in registries.items()},
        "blocks": blocks,
        "keys": {**top, **{key: each for block in plain for key, each in block if key not in NESTED}},
        "presets": _presets(),
        "aliases": CANONICAL,
    }


def settings(options: type[Any], prefix: str) -> Iterator[tuple[str, Setting]]:
    """Every key of a block with its default and choices; nested blocks by dotted keys."""
    from pydantic_core import to_jsonable_python

    from equipoise.core.options import Options

    for name, field in options.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if isinstance(default, Options):
            yield from settings(type(default), f"{prefix}{name}.")
        elif f"{prefix}{name}" != f"{prefix}name" or not prefix:
            yield f"{prefix}{name}", (to_jsonable_python(default), choices(field.annotation))


def choices(annotation: Any) -> list[str]:
    """The values of a Literal or a truth value, also of an optional one; empty where there is no list."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is bool:
        return ["true", "false"]
    if annotation is NoneType:
        return ["null"]
    if origin is Literal:
        return [str(value) for value in inner]
    if origin in (Union, UnionType):
        listed = [choices(each) for each in inner]
        return [value for each in listed for value in each] if all(listed) else []
    return []


def _presets() -> dict[str, dict[str, Any] | None]:
    """Every preset with the settings it would run with; those of plugins that do not load, and sweeps, without."""
    from equipoise.config.loader import flat, load, preset_files
    from equipoise.core.errors import ConfigError

    found: dict[str, dict[str, Any] | None] = {}
    for name, path in preset_files().items():
        try:
            found[name] = flat(load(path).config.model_dump(mode="json"))
        except ConfigError:
            found[name] = None
    return found
