"""From raw values to a checked configuration: unknown keys, types, ranges and combinations, all problems at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from equipoise.config.aliases import CANONICAL
from equipoise.config.fits import misfits
from equipoise.config.kinds import stand_ins
from equipoise.config.named import NAMED, NESTED, PLAIN
from equipoise.config.plugins import KEY, listed
from equipoise.config.schema import Config
from equipoise.core.entry import Entry
from equipoise.core.errors import ConfigError, Problem, UnknownName
from equipoise.core.options import Options
from equipoise.core.plugins import once, plugins_of
from equipoise.core.registry import AGGREGATES, PREDICTS, TERMS, suggestion


def check(raw: Mapping[str, Any]) -> Config:
    """The configuration in `raw`, or a ConfigError that lists every problem; its plugins are loaded."""
    plugins = listed(raw.get(KEY) or [], Path.cwd())
    problems: list[Problem] = []
    values: dict[str, Any] = {KEY: plugins}
    for key, value in raw.items():
        if key in NAMED:
            values[key] = _named(key, value, problems)
        elif key in PLAIN:
            values[key] = _validated(PLAIN[key], _with_nested(key, value, problems), key, problems)
    for key in NAMED.keys() - values.keys():
        values[key] = _named(key, stand_ins(raw).get(key, {}), problems)
    rest = {key: value for key, value in raw.items() if key not in values}
    top = _validated(Config, rest, "", problems)
    if problems:
        raise ConfigError(sorted(problems))
    assert isinstance(top, Config)
    config = top.model_copy(update=values)
    if problems := misfits(config):
        raise ConfigError(problems)
    return _completed(config)


def _completed(config: Config) -> Config:
    """The configuration with defaults filled in: canonical names, number of steps, plugins of everything it names."""
    model = config.model.completed()
    changes: dict[str, Any] = {"model": model}
    changes[KEY] = once([*config.plugins, *plugins_of(chosen(config)), *model.code()])
    if config.server.predict is not None:
        name = PREDICTS.find(config.server.predict).name
        changes["server"] = config.server.model_copy(update={"predict": name})
    steps = {"checkpoints": min(10, config.client.epochs)} if config.is_one_shot else {"rounds": 10}
    axis = next(iter(steps))
    return config.model_copy(update=changes | (steps if getattr(config, axis) is None else {}))


def chosen(config: Config) -> list[Entry[Any]]:
    """Everything that a configuration names."""
    named = [registry.find(getattr(config, key).name) for key, registry in NAMED.items()]
    server, terms = config.server, [TERMS.find(name) for name in config.client.terms]
    predict = [] if server.predict is None else [PREDICTS.find(server.predict)]
    aggregate = [] if server.aggregate is None else [AGGREGATES.find(server.aggregate.name)]
    return [*named, *terms, *predict, *aggregate]


def _named(key: str, value: Any, problems: list[Problem]) -> Options | None:
    block = {"name": value} if isinstance(value, str) else value
    if not isinstance(block, Mapping):
        problems.append(Problem(key, f"expected a name or a block of settings, got {value!r}"))
        return None
    registry = NAMED.get(key) or NESTED[key]
    default = Config.model_fields[key].default.name if key in NAMED else "mean"
    try:
        entry = registry.find(str(block.get("name", default)), key)
    except UnknownName as error:
        problems.extend(error.problems)
        return None
    return _validated(entry.options, {**block, "name": entry.name}, key, problems)


def _with_nested(key: str, value: Any, problems: list[Problem]) -> Any:
    """A plain block, with the named blocks inside it checked."""
    found = dict(value) if isinstance(value, Mapping) else {}
    for path in NESTED:
        block, _, inner = path.partition(".")
        if block == key and found.get(inner) is not None:
            found[inner] = _named(path, found[inner], problems)
    return found if isinstance(value, Mapping) else value


def _validated(kind: type[Options], value: Any, path: str, problems: list[Problem]) -> Options | None:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        name = value.get("name", "") if isinstance(value, Mapping) else ""
        problems.extend(_problem(kind, item, path, name) for item in error.errors())
        return None


def _problem(kind: type[Options], item: Any, path: str, name: str) -> Problem:
    where = ".".join(str(part) for part in ([path] if path else []) + list(item["loc"]))
    if item["type"] == "extra_forbidden":
        return Problem(where, _unknown(kind, str(item["loc"][-1]), path, name))
    return Problem(where, f"{item['msg'].removeprefix('Value error, ')}, got {item['input']!r}")


def _unknown(kind: type[Options], key: str, path: str, name: str) -> str:
    known = [field for field in kind.model_fields if field != "name"]
    if kind is Config:
        return f"unknown key{suggestion(key, [*known, 'name', *(alias for alias in CANONICAL if '.' not in alias)])}"
    if path in {**NAMED, **NESTED}:
        return f"not a setting of {path} '{name}'" + (suggestion(key, known) if known else ", which has none")
    return f"unknown key{suggestion(key, known)}"
