"""The shortest command that runs a configuration again.

The command names a preset and the settings that differ from it; every preset is tried. A command is used only if
loading it gives the stored configuration with the same fingerprint. If no preset does (a plugin is not installed, or
this version does not know a key), the command runs the stored configuration from a file.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from equipoise.config.check import check
from equipoise.config.loader import SWEEP_KEYS, find_preset, load, preset_names, read_yaml, value_of, walked
from equipoise.config.named import NAMED
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError
from equipoise.store.records import IMPORTED, Run

FREE = ("name", "seed", "plugins", "track")
"""Keys in which presets do not differ, or that change no number; installed plugins are found by what they are asked
for."""


ANYWHERE = (("engine.device", "auto"), ("engine.device", "cpu"))
"""Settings that are left out: a run on the CPU may be repeated on whatever device there is."""


def again(runs: Sequence[Run]) -> str:
    """The command for runs that differ only in their seed: a `run`, or a `sweep` over the seeds."""
    run, seeds = runs[0], sorted({run.seed for run in runs})
    if run.is_imported:
        return f"equipoise import {shlex.quote(str(run.environment[IMPORTED]['source']))}"
    try:
        request = _request(check(run.config))
    except ConfigError:
        request = None
    if request is None:
        return f"equipoise show {run.run_id} --config > again.yaml && equipoise run again.yaml"
    words = [shlex.quote(word) for word in request]
    if len(seeds) == 1:
        return " ".join(["equipoise run", *words, *([f"seed={run.seed}"] if run.seed else [])])
    is_count = seeds == list(range(len(seeds)))
    return " ".join(["equipoise sweep", *words, "--seeds", str(len(seeds)) if is_count else ",".join(map(str, seeds))])


def _request(config: Config) -> list[str] | None:
    """[preset, key=value, …] without the seed; None if no preset leads to the configuration."""
    if any(plugin.path is not None or plugin.source is not None for plugin in config.plugins):
        return None
    wanted, fingerprint = _flat(config), config.model_copy(update={"seed": 0}).fingerprint()
    names = {f"{block}.name": wanted[f"{block}.name"] for block in NAMED}
    nearest = sorted(_presets(), key=lambda preset: _distance(wanted, names, _flat(_presets()[preset])))
    found = [request for preset in nearest[:4] if (request := _from(preset, wanted, names))]
    right = [request for request in found if load(request[0], request[1:]).config.fingerprint() == fingerprint]
    own = [request for request in right if request[0].replace("/", "-") == config.name]
    return min([*own, *right], key=lambda request: len(" ".join(request[1:])), default=None)


def _from(preset: str, wanted: Mapping[str, Any], names: Mapping[str, Any]) -> list[str] | None:
    """Names come first, because the name of a block sets its defaults."""
    start = _flat(_presets()[preset])
    first = {key: name for key, name in names.items() if name != start[key]}
    if wanted["communication"] != start["communication"]:
        first["communication"] = wanted["communication"]
    try:
        reached = _flat(load(preset, _settings(first)).config) if first else start
        rest = {key: value for key, value in wanted.items() if key not in reached or reached[key] != value}
        request = [preset, *_settings({**first, **rest})]
        load(preset, request[1:])
    except ConfigError:
        return None
    return request


def _settings(values: Mapping[str, Any]) -> list[str]:
    """`data=x` is short for `data.name=x`."""
    return [f"{key.removesuffix('.name')}={_text(value)}" for key, value in values.items()]


def _text(value: Any) -> str:
    """The value as the command line parses it."""
    plain = str(value)
    return plain if isinstance(value, str) and value_of(plain) == value else json.dumps(value, ensure_ascii=False)


def _flat(config: Config) -> dict[str, Any]:
    """Every setting by its dotted key, except those that do not matter here."""
    found = {key: value for key, value in walked(config.model_dump(mode="json")) if key.split(".")[0] not in FREE}
    return {key: value for key, value in found.items() if (key, value) not in ANYWHERE}


def _distance(wanted: Mapping[str, Any], names: Mapping[str, Any], start: Mapping[str, Any]) -> int:
    """The number of settings that differ; a name counts twice, because it brings settings of its own."""
    settings = [key for key, value in wanted.items() if value != start.get(key)]
    return len(settings) + len([key for key, name in names.items() if name != start[key]])


@cache
def _presets() -> dict[str, Config]:
    """The presets that describe a single run."""
    single = [name for name in preset_names() if not any(key in read_yaml(find_preset(name)) for key in SWEEP_KEYS)]
    return {name: load(name).config for name in single}
