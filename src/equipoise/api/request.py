"""Makes one checked configuration from a preset, a file, a mapping or a Config, and settings on top of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from equipoise.core.errors import ConfigError, Problem

if TYPE_CHECKING:
    from equipoise.config.loader import Request
    from equipoise.config.schema import Config

Source: TypeAlias = "str | Path | Mapping[str, Any] | Config"
"""The name of a preset, a YAML file, a mapping of settings, or a configuration."""
Settings: TypeAlias = Mapping[str, Any] | Iterable[str] | None
"""Keys and values as on the command line: nested blocks, dotted keys, other accepted names; or `key=value` texts."""


def requested(source: Source, settings: Settings = None, more: Mapping[str, Any] | None = None) -> Request:
    """The checked configuration; every problem with it is in one ConfigError."""
    from equipoise.config.loader import load
    from equipoise.config.schema import Config

    base = source.model_dump() if isinstance(source, Config) else source
    return load(base, merged(settings, more or {}))


def merged(settings: Settings, more: Mapping[str, Any]) -> dict[str, Any] | list[str]:
    """Combines both ways to give settings; strings are kept, since they are parsed as on the command line."""
    if settings is None or isinstance(settings, Mapping):
        given = settings or {}
        if twice := sorted(given.keys() & more.keys()):
            raise ConfigError([Problem(key, "given twice, in the mapping and as a keyword") for key in twice])
        return {str(key): plain(value) for key, value in {**given, **more}.items()}
    if isinstance(settings, str):
        what = f"expected a mapping of settings, or a list of key=value texts, got {settings!r}"
        raise ConfigError(what, fix=f"[{settings!r}], or as keywords")
    texts = [str(text) for text in settings]
    if more:
        raise ConfigError("settings are given as texts and as keywords", fix="give all of them one way")
    return texts


def plain(value: Any) -> Any:
    """Converts numpy numbers and paths to plain YAML values, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Path):
        return str(value)
    return value.item() if getattr(value, "ndim", None) == 0 else value
