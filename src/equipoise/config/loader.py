"""Combines a preset, a file and `key=value` overrides into one checked configuration.

    config = check(preset ← file ← overrides)

Each layer is a flat map of dotted keys. Choosing another name for a block (`method=fedadam`) drops what the layers
below set for the old name alone: its learning rate was not meant for the new one. Keys that every name has, and the α
of splitters, stay; settings given in the same layer are never dropped, they are checked. Plugins add up.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from equipoise.config.aliases import CANONICAL
from equipoise.config.check import check
from equipoise.config.layers import Flat, layered
from equipoise.config.named import NAMED, NESTED, PLAIN
from equipoise.config.plugins import with_plugins
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem, UnknownName
from equipoise.core.plugins import preset_folders
from equipoise.core.registry import suggestion

PRESETS = Path(__file__).parent / "presets"
SWEEP_KEYS = ("seeds", "base", "scales", "cells", "grid", "search")
"""Keys that make a file a sweep rather than a run."""


class _Yaml(yaml.SafeLoader):
    """YAML in which 1e-3 is a number and a repeated key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if key in keys[:place]:
                where = node.value[place][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' stands there twice", where)
        return super().construct_mapping(node, deep)


class _OneValue(_Yaml):
    """A value that somebody typed: it cannot refer to a part of itself, and so is as large as its text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "a value cannot refer to a part of itself", None)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """Its counterpart: quotes strings that would be read as numbers."""


for _kind in (_Yaml, _OneValue, _Dumper):
    _kind.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"),
        list("-+0123456789."),
    )


@dataclass(frozen=True)
class Request:
    """A checked configuration, and the data folder from the command line, which is never part of it."""

    config: Config
    data_path: Path | None


def load(source: str | Path | Mapping[str, Any], overrides: Iterable[str] | Mapping[str, Any] = ()) -> Request:
    """The configuration of a preset name, a YAML file or a mapping, with overrides applied: `key=value` texts, or a
    mapping of keys and blocks."""
    given = flat_overrides(overrides)
    data_path = given.pop("data.path", None)
    base = source_flat(source)
    if "data.path" in base:
        message = "a data folder never comes from a preset; set EQUIPOISE_DATA or give data.path=… on the command"
        raise ConfigError([Problem("data.path", message)])
    return Request(check(nested(layered(base, given))), Path(data_path) if data_path else None)


def source_flat(source: str | Path | Mapping[str, Any], above: tuple[Path, ...] = ()) -> Flat:
    """A preset, file or mapping as dotted keys; `preset: x` inside puts x below it. `above` lists the presets above."""
    if isinstance(source, Mapping):
        raw, label, folder = source, "", Path.cwd()
    else:
        path = find_preset(str(source))
        if path in above:
            raise ConfigError([Problem("preset", f"{path.stem} is underneath itself")], where=str(above[-1]))
        raw, label, above, folder = read_yaml(path), path.stem, (*above, path), path.parent
        if any(key in raw for key in SWEEP_KEYS):
            raise ConfigError(f"'{source}' is a sweep, not one run", fix=f"equipoise sweep {source}")
    layer = with_plugins(flat(raw), folder)
    under = layer.pop("preset", None)
    if under is not None:
        return layered(source_flat(str(under), above), layer)
    return {"name": label, **layer} if label else layer


def find_preset(name: str) -> Path:
    """The file of a preset name, or a YAML file by its path."""
    path = Path(name)
    if path.suffix in {".yaml", ".yml"}:
        if path.is_file():
            return path
        raise ConfigError(f"there is no file {name}", fix="`equipoise presets` lists what comes with the product")
    known = preset_files()
    if name in known:
        return known[name]
    message = f"preset '{name}' is not known{suggestion(name, list(known))}"
    raise UnknownName([Problem("preset", message)])


def preset_names() -> list[str]:
    """The names of the built-in presets."""
    return sorted(_presets(PRESETS))


def preset_files() -> dict[str, Path]:
    """All presets by name; a plugin's presets are named like my-plugin/mine."""
    theirs = {
        f"{plugin}/{name}": path
        for plugin, folder in preset_folders().items()
        for name, path in _presets(folder).items()
    }
    return dict(sorted({**theirs, **_presets(PRESETS)}.items()))


def _presets(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.yaml")}


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_Yaml)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path} is not a configuration: expected keys and values, got {type(raw).__name__}")
    return raw


def value_of(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_OneValue)
    except (yaml.YAMLError, ValueError):  # a ValueError is a date that is none
        return text


def flat_overrides(overrides: Iterable[str] | Mapping[str, Any]) -> Flat:
    """Overrides as dotted keys, with their plugins loaded."""
    if isinstance(overrides, Mapping):
        return with_plugins(flat(overrides), Path.cwd())
    items: list[tuple[str, Any]] = []
    problems = []
    for text in overrides:
        key, found, value = text.partition("=")
        if not found or not key:
            problems.append(Problem(text, "expected key=value, as in partition.alpha=0.1"))
        elif not value.strip():
            problems.append(Problem(key, f"has no value; to leave it open, write {key}=null"))
        items += [(key, value)] if key == "data.path" else walked(value_of(value), key)
    if problems:
        raise ConfigError(problems)
    return with_plugins(_canonical(items), Path.cwd())


def flat(raw: Mapping[str, Any]) -> Flat:
    """Nested blocks as dotted canonical keys; `data: x` is `data.name`."""
    return _canonical(walked(raw)) if raw else {}


def walked(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """(dotted key, value) of everything inside; an empty block yields nothing."""
    if isinstance(value, Mapping) and (value or path in {*NAMED, *PLAIN}):
        for key, inner in value.items():
            yield from walked(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _canonical(items: Iterable[tuple[str, Any]]) -> Flat:
    result: Flat = {}
    for given, value in items:
        key = CANONICAL.get(given, given)
        is_name = key in NAMED or (key in NESTED and value is not None)
        key = f"{key}.name" if is_name and not isinstance(value, Mapping) else key
        if key in result and result[key] != value:
            raise ConfigError([Problem(key, f"given twice, as {result[key]!r} and {value!r}")])
        result[key] = value
    return result


def nested(layer: Flat) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    for key, value in layer.items():
        *blocks, last = key.split(".")
        at = raw
        for block in blocks:
            inner = at.setdefault(block, {})
            if not isinstance(inner, dict):
                raise ConfigError([Problem(key, f"'{block}' is a value here, not a block of settings")])
            at = inner
        at[last] = value
    return raw


def to_yaml(config: Config) -> str:
    """The resolved configuration, itself a valid preset."""
    return dump_yaml(config.model_dump())


def dump_yaml(content: Mapping[str, Any]) -> str:
    given = {key: value for key, value in content.items() if value is not None}
    return yaml.dump(given, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
