"""A sweep as a list of cells: named rows × grid axes × seeds, each a checked configuration.

preset: fedavg                    what every cell starts from
base: {partition.alpha: 0.05}     overrides for all cells
scales: {small: {…}, full: {…}}   further overrides, one of them chosen by scale=…; the first unless given
cells: {FedProx: {method: fedprox, method.mu: 0.1}}
grid: {partition.alpha: [0.05, 0.5]}    axes; a value may be a block, as in data: [digits, {name: synthetic, …}]
seeds: 3                          or a list
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from equipoise.config.check import check
from equipoise.config.layers import Flat, layered
from equipoise.config.loader import (
    SWEEP_KEYS,
    find_preset,
    flat,
    flat_overrides,
    nested,
    read_yaml,
    source_flat,
    value_of,
)
from equipoise.config.plugins import KEY, with_plugins
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import suggestion

KEYS = ("preset", KEY, *SWEEP_KEYS)
Point = tuple[str, tuple[Any, ...]]
"""A row's label, and its value on each axis."""
Overrides = Sequence[str] | Mapping[str, Any]
"""`key=value` texts, or a mapping in which a list is an axis."""


@dataclass(frozen=True)
class Cell:
    """One run of a sweep. Cells with the same label differ in their seed only."""

    label: str
    config: Config


@dataclass(frozen=True)
class Grid:
    name: str
    cells: Sequence[Cell]
    data_path: Path | None
    is_named: bool = False
    """Whether the user chose the name; another grid must not then reuse it."""

    def fingerprint(self) -> str:
        """Hash of its rows; more seeds of the same rows are the same grid."""
        rows = {cell.label: cell.config.model_copy(update={"seed": 0}).fingerprint() for cell in self.cells}
        return hashlib.sha256(json.dumps(sorted(rows.items())).encode()).hexdigest()


def load_grid(source: str, overrides: Overrides = (), seeds: Any = None, name: str | None = None) -> Grid:
    """A sweep file, or any preset; `key=a,b` on the command line adds an axis, and `key=a` overrides the file.

    In a mapping of overrides a list is an axis; a setting that is itself a list is a list of one list.
    """
    path = find_preset(source)
    raw = read_yaml(path)
    is_sweep = any(key in raw for key in SWEEP_KEYS)
    plan: dict[str, Any] = raw if is_sweep else {"preset": source}
    unknown = [Problem(key, f"unknown key in a sweep{suggestion(key, list(KEYS))}") for key in plan.keys() - set(KEYS)]
    if unknown:
        raise ConfigError(sorted(unknown), where=str(path))
    scale, fixed, given = _given(overrides, plan.get("scales") or {})
    axes = {key: values for key, values in {**_listed(plan.get("grid") or {}), **given}.items() if key not in fixed}
    data_path = fixed.pop("data.path", None)
    code = {KEY: plan[KEY]} if plan.get(KEY) else {}
    common = with_plugins(flat((plan.get("base") or {}) | code), path.parent)
    base = layered(layered(source_flat(str(plan.get("preset", "fedavg"))), common), flat(scale.settings))
    named = plan.get("cells") or {"": {}}
    if not isinstance(named, Mapping):
        message = f"expected a label and settings for each, got {named!r}"
        raise ConfigError([Problem("cells", message)], where=str(path))
    rows = {str(label): flat(row or {}) for label, row in named.items()}
    if any("seed" in layer for layer in (common, flat(scale.settings), fixed, axes, *rows.values())):
        raise ConfigError([Problem("seed", "a sweep runs several; give --seeds, a count or a list such as 0,1,7")])
    chosen = {key: value for key, value in fixed.items() if key.endswith(".name")}
    settings = {key: value for key, value in fixed.items() if key not in chosen}
    points = [
        # names first, because choosing another name drops the settings that only the old one has
        ((label, values), layered(layered(layered(layered(base, row), chosen), _point(axes, values)), settings))
        for (label, row), values in product(rows.items(), product(*axes.values()))
    ]
    cells = _cells(points, list(axes), _seeds(plan.get("seeds", 3) if seeds is None else seeds))
    usual = f"{source} scale={scale.name}" if scale.name else source
    return Grid(name or usual, cells, Path(data_path) if data_path else None, name is not None)


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
        axes = {key: list(value) for key, value in settings.items() if isinstance(value, list | tuple) and key != KEY}
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


def _cells(points: Sequence[tuple[Point, Flat]], axes: list[str], seeds: list[int]) -> list[Cell]:
    cells, problems = [], []
    for (label, values), layer in points:
        settings = [f"{key.removesuffix('.name')}={_shown(value)}" for key, value in zip(axes, values, strict=True)]
        title = " ".join([label, *settings] if label else settings)
        name = _slug(label or "-".join(_shown(value) for value in values)) or layer.get("name", "run")
        for seed in seeds:
            try:
                cells.append(Cell(title or str(name), check(nested({**layer, "name": name, "seed": seed}))))
            except ConfigError as error:
                at = f"{title}: " if title else ""
                problems += [Problem("", f"{at}{problem}") for problem in error.problems]
    counted = Counter(cell.config.fingerprint() for cell in cells)
    twice = dict.fromkeys(cell.label for cell in cells if counted[cell.config.fingerprint()] > 1)
    if not problems and twice:
        problems.append(Problem("", f"the same settings stand in the sweep twice: {', '.join(twice)}"))
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))
    return cells


def _point(axes: Iterable[str], values: Sequence[Any]) -> Flat:
    """The settings of a point on the axes; a value may be a whole block."""
    return {
        key: inner
        for axis, value in zip(axes, values, strict=True)
        for key, inner in flat({axis.removesuffix(".name") if isinstance(value, Mapping) else axis: value}).items()
    }


def _shown(value: Any) -> str:
    """A value for labels: of a block, the settings it makes, without nulls, which only undo earlier settings."""
    if not isinstance(value, Mapping):
        return str(value)
    return " ".join(str(part) for part in value.values() if part is not None)


def _slug(label: str) -> str:
    """A label as the name of a run: "one-shot FedAvg" → "one-shot-fedavg"."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")


def _listed(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The axes of a file."""
    return {key: values if isinstance(values, list) else [values] for key, values in flat(grid).items()}


def _split(overrides: Sequence[str]) -> tuple[Flat, dict[str, list[Any]]]:
    """(fixed settings, axes): `key=a,b` is an axis, `key=a` is fixed."""
    axes: dict[str, list[Any]] = {}
    fixed = []
    for text in overrides:
        key, _, value = text.partition("=")
        parts = value.split(",")
        if len(parts) > 1 and not value.startswith(("[", "{")) and key != KEY:
            if "" in parts:
                raise ConfigError([Problem(key, f"an empty value in '{value}'")])
            (canonical,) = flat_overrides([f"{key}=0"])
            axes[canonical] = [value_of(part) for part in parts]
        else:
            fixed.append(text)
    return flat_overrides(fixed), axes


def _seeds(given: Any) -> list[int]:
    value = value_of(given) if isinstance(given, str) and "," not in given else given
    seeds = value.split(",") if isinstance(value, str) else value
    try:
        listed = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    except (TypeError, ValueError):
        listed = []
    if not listed:
        raise ConfigError([Problem("seeds", f"expected a count such as 3 or a list such as 0,1,7, got {given!r}")])
    return listed
