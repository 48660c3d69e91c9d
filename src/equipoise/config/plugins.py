"""The key `plugins` of a configuration: modules and files, by name or as blocks, loaded when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from equipoise.core.errors import ConfigError, PluginError, Problem
from equipoise.core.loading import Plugin, load

KEY = "plugins"
FILES = {"model.factory": ".py", "model.weights": ".safetensors"}
"""Settings that name files, and how those end."""


def listed(value: Any, folder: Path) -> list[Plugin]:
    """The plugins that a value names, loaded; relative paths start from `folder`."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ConfigError([Problem(KEY, f"expected a list of modules and files, got {value!r}")])
    return [load(_plugin(item, folder)) for item in items]


def _plugin(item: Any, folder: Path) -> Plugin:
    if isinstance(item, Plugin):
        return item
    if isinstance(item, Mapping):
        try:
            plugin = Plugin.model_validate(item)
        except ValidationError as error:
            problems = [Problem(".".join([KEY, *map(str, each["loc"])]), each["msg"]) for each in error.errors()]
            raise ConfigError(problems) from error
        return plugin if plugin.path is None else plugin.model_copy(update={"path": _file(plugin.path, folder)})
    text = str(item).strip()
    if text.endswith(".py"):
        return Plugin(name=Path(text).stem, path=_file(text, folder))
    if not text or not all(part.isidentifier() for part in text.split(".")):
        raise ConfigError(
            [Problem(KEY, f"expected a module such as my_plugin, or a file such as mine.py, got {item!r}")]
        )
    return Plugin(name=text)


def _file(text: str, folder: Path) -> str:
    """The absolute path, so that every process finds the file from any folder."""
    return str((folder / Path(text).expanduser()).resolve())


def _placed(text: str, ending: str, folder: Path) -> str:
    """A path with that ending, and what follows after a colon, as an absolute path; any other text as it is."""
    path, colon, rest = text.partition(f"{ending}:")
    if text.endswith(ending):
        return _file(text, folder)
    return _file(path + ending, folder) + f":{rest}" if colon else text


def bring(config: Mapping[str, Any]) -> list[PluginError]:
    """Load the plugins of a stored configuration; returns errors instead of raising them."""
    missing = []
    for item in config.get(KEY) or []:
        try:
            listed([item], Path.cwd())
        except PluginError as error:
            missing.append(error)
    return missing


def with_plugins(layer: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A layer of settings with its plugins loaded; their paths, and those of a model's files, are made absolute."""
    placed = {key: _placed(str(layer[key]), ending, folder) for key, ending in FILES.items() if layer.get(key)}
    layer = {**layer, **placed}
    if layer.get(KEY) is None:
        return layer
    return {**layer, KEY: [plugin.model_dump() for plugin in listed(layer[KEY], folder)]}
