"""Reads a sweep file, or a preset, with overrides from the command line, before it becomes a grid or a search.

preset: fedavg                    what every run starts from
base: {partition.alpha: 0.05}     overrides for all runs
scales: {small: {…}, full: {…}}   further overrides, one of them chosen by scale=…; the first unless given
cells: {FedProx: {method: fedprox, method.mu: 0.1}}
grid: {partition.alpha: [0.05, 0.5]}    axes; a value may be a block, as in data: [digits, {name: synthetic, …}]
search: {client.lr: {low: 1e-4, high: 1e-1, log: true}}    ranges, for --search
seeds: 3                          or a list
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.config.layers import Flat, layered
from equipoise.config.loader import (
    SWEEP_KEYS,
    find_preset,
    flat,
    flat_overrides,
    read_yaml,
    source_flat,
    value_of,
)
from equipoise.config.plugins import KEY, with_plugins
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import suggestion

KEYS = ("preset", KEY, *SWEEP_KEYS)
LISTS = (KEY, "track", "track.to")
"""Keys whose value is a list; a list of them is not an axis."""
Overrides = Sequence[str] | Mapping[str, Any]
"""`key=value` texts, or a mapping in which a list is an axis."""


@dataclass(frozen=True)
class SweepFile:
    """A sweep file with the overrides applied; nothing of it is checked against the schema yet."""

    path: Path
    plan: Mapping[str, Any]
    """The file's content."""
    name: str
    """The source, with its scale."""
    base: Flat
    """The settings of every run, below those of its row."""
    layers: Sequence[Flat]
    """Where they come from, and the fixed settings."""
    fixed: Flat
    """Settings of the command line; they are over everything else."""
    axes: Mapping[str, list[Any]]
    """Axes of the command line."""
    data_path: Path | None

    def refuse_seed(self, *others: Iterable[str]) -> None:
        if any("seed" in layer for layer in (*self.layers, *others)):
            raise ConfigError([Problem("seed", "a sweep runs several; give --seeds, a count or a list such as 0,1,7")])


def read_sweep(source: str, overrides: Overrides = ()) -> SweepFile:
    path = find_preset(source)
    raw = read_yaml(path)
    is_sweep = any(key in raw for key in SWEEP_KEYS)
    plan: dict[str, Any] = raw if is_sweep else {"preset": source}
    unknown = [Problem(key, f"unknown key in a sweep{suggestion(key, list(KEYS))}") for key in plan.keys() - set(KEYS)]
    if unknown:
        raise ConfigError(sorted(unknown), where=str(path))
    scale, fixed, axes = _given(overrides, plan.get("scales") or {})
    data_path = fixed.pop("data.path", None)
    code = {KEY: plan[KEY]} if plan.get(KEY) else {}
    common, scaled = with_plugins(flat((plan.get("base") or {}) | code), path.parent), flat(scale.settings)
    return SweepFile(
        path=path,
        plan=plan,
        name=f"{source} scale={scale.name}" if scale.name else source,
        base=layered(layered(source_flat(str(plan.get("preset", "fedavg"))), common), scaled),
        layers=(common, scaled, fixed),
        fixed=fixed,
        axes=axes,
        data_path=Path(data_path) if data_path else None,
    )


@dataclass(frozen=True)
class Scale:
    """The chosen size of a study."""

    name: str
    settings: Mapping[str, Any]


def _given(overrides: Overrides, scales: Mapping[str, Any]) -> tuple[Scale, Flat, dict[str, list[Any]]]:
    """The chosen scale, the fixed settings, and the axes of overrides."""
    if isinstance(overrides, Mapping):
        rest = {key: value for key, value in overrides.items() if key != "scale"}
        settings = flat_overrides(rest)
        axes = {
            key: list(value) for key, value in settings.items() if isinstance(value, list | tuple) and key not in LISTS
        }
        fixed = {key: value for key, value in settings.items() if key not in axes}
        return _scale(scales, overrides.get("scale")), fixed, axes
    asked = [text.removeprefix("scale=") for text in overrides if text.startswith("scale=")]
    fixed, axes = _split([text for text in overrides if not text.startswith("scale=")])
    return _scale(scales, asked[-1] if asked else None), fixed, axes


def _scale(scales: Mapping[str, Any], asked: str | None) -> Scale:
    """The requested scale, or the first; a sweep without scales has one empty scale."""
    if not isinstance(scales, Mapping) or not all(isinstance(value or {}, Mapping) for value in scales.values()):
        raise ConfigError([Problem("scales", f"expected a name and settings for each, got {scales!r}")])
    if not scales and asked is None:
        return Scale("", {})
    name = next(iter(scales)) if asked is None else asked
    if name not in scales:
        known = suggestion(name, list(scales)) if scales else "; this sweep has none"
        raise ConfigError([Problem("scale", f"scale '{name}' is not known{known}")])
    return Scale(name, scales[name] or {})


def _split(overrides: Sequence[str]) -> tuple[Flat, dict[str, list[Any]]]:
    """(fixed settings, axes): `key=a,b` is an axis, `key=a` is fixed."""
    axes: dict[str, list[Any]] = {}
    fixed = []
    for text in overrides:
        key, _, value = text.partition("=")
        parts = value.split(",")
        if len(parts) > 1 and not value.startswith(("[", "{")) and key not in LISTS:
            if "" in parts:
                raise ConfigError([Problem(key, f"an empty value in '{value}'")])
            (canonical,) = flat_overrides([f"{key}=0"])
            axes[canonical] = [value_of(part) for part in parts]
        else:
            fixed.append(text)
    return flat_overrides(fixed), axes


def point(axes: Iterable[str], values: Sequence[Any]) -> Flat:
    """The settings of a point on the axes; a value may be a whole block."""
    return {
        key: inner
        for axis, value in zip(axes, values, strict=True)
        for key, inner in flat({axis.removesuffix(".name") if isinstance(value, Mapping) else axis: value}).items()
    }


def shown(value: Any) -> str:
    """A value for labels: of a block, the settings it makes, without nulls, which only undo earlier settings."""
    if not isinstance(value, Mapping):
        return str(value)
    return " ".join(str(part) for part in value.values() if part is not None)


def listed_seeds(given: Any) -> list[int]:
    value = value_of(given) if isinstance(given, str) and "," not in given else given
    seeds = value.split(",") if isinstance(value, str) else value
    try:
        listed = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    except (TypeError, ValueError):
        listed = []
    if not listed:
        raise ConfigError([Problem("seeds", f"expected a count such as 3 or a list such as 0,1,7, got {given!r}")])
    return listed
