"""Puts one layer of settings over another: preset, file, command line.

Choosing another name for a block (`method=fedadam`) drops what the layers below set for the old name alone. Choosing
data of another kind drops the splitter, model and method of the layers below that do not fit it, and settings that
have no effect there. Keys that every name has, and the α of splitters, stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.config.kinds import fits_kind, kind_of
from equipoise.config.named import NAMED, NESTED
from equipoise.config.plugins import KEY
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, UnknownName
from equipoise.core.options import Options

Flat = dict[str, Any]


def layered(base: Flat, layer: Flat) -> Flat:
    """`base` with `layer` on top, without settings of `base` that no longer apply."""
    kept = _fitting(base, layer)
    for block, registry in {**NAMED, **NESTED}.items():
        name = layer.get(f"{block}.name")
        if block in layer or (name is not None and block in kept):  # left to the method, or no longer
            kept = {key: value for key, value in kept.items() if key != block and not key.startswith(f"{block}.")}
        if name is not None and name != base.get(f"{block}.name"):
            known = _kept(block, registry, str(name), base.get(f"{block}.name"))
            kept = {
                key: value
                for key, value in kept.items()
                if not key.startswith(f"{block}.") or known is None or key.removeprefix(f"{block}.") in known
            }
    if layer.get("communication", base.get("communication")) != base.get("communication"):
        kept = {key: value for key, value in kept.items() if key not in {"rounds", "checkpoints"}}
    plugins = [*(kept.get(KEY) or []), *(layer.get(KEY) or [])]
    return {**kept, **layer, **({KEY: plugins} if plugins else {})}


def _fitting(base: Flat, layer: Flat) -> Flat:
    """The settings of `base` that still apply if the layer chooses data of another kind."""
    data = layer.get("data.name", base.get("data.name"))
    if "data.name" not in layer or data == base.get("data.name"):
        return dict(base)
    try:
        kind = kind_of(str(data))
        gone = {
            block
            for block in ("partition", "model", "method")
            if f"{block}.name" in base and not fits_kind(block, str(base[f"{block}.name"]), kind)
        }
    except ConfigError:
        return dict(base)  # reported by check, with a suggestion
    gone |= {"balance"} if "method" in gone else set()
    return {key: value for key, value in base.items() if key.split(".")[0] not in gone and key not in kind.unread}


def _kept(block: str, registry: Any, name: str, before: Any) -> set[str] | None:
    """The keys that survive another choice of name: those every name of the block has, a splitter's α, and those of a
    model that is a part of the other."""
    try:
        options = registry.find(name).options
        former = registry.find(str(before)).options if before is not None else options
    except UnknownName:
        return None  # reported by check, with a suggestion
    known = set(options.model_fields)
    base = type(Config.model_fields[block].default) if block in NAMED else Options
    shared = base.model_fields
    common = {key for key in shared if key in known and not _leaves_open(key, shared, options.model_fields)}
    if block == "model" and (issubclass(former, options) or issubclass(options, former)):
        common = set(former.model_fields) & known
    return common | ({"alpha"} & known)


def _leaves_open(key: str, shared: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether a name leaves a key empty that others set: a split file determines the number of clients itself."""
    return own[key].default is None and shared[key].default is not None
