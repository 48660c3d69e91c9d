"""A sweep as a list of cells: named rows × grid axes × seeds, each a checked configuration.

`sweep_file` says what a sweep file holds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from equipoise.config.check import check
from equipoise.config.layers import Flat, layered
from equipoise.config.loader import flat, nested
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.run.sweep_file import Overrides, listed_seeds, point, read_sweep, shown

Point = tuple[str, tuple[Any, ...]]
"""A row's label, and its value on each axis."""


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
    file = read_sweep(source, overrides)
    if file.plan.get("search"):
        fix = "--search optuna, with --trials; or list the values under grid:"
        raise ConfigError([Problem("search", "ranges are searched, not run through")], where=str(file.path), fix=fix)
    grid = {**_listed(file.plan.get("grid") or {}), **file.axes}
    axes = {key: values for key, values in grid.items() if key not in file.fixed}
    named = file.plan.get("cells") or {"": {}}
    if not isinstance(named, Mapping):
        message = f"expected a label and settings for each, got {named!r}"
        raise ConfigError([Problem("cells", message)], where=str(file.path))
    rows = {str(label): flat(row or {}) for label, row in named.items()}
    file.refuse_seed(axes, *rows.values())
    chosen = {key: value for key, value in file.fixed.items() if key.endswith(".name")}
    settings = {key: value for key, value in file.fixed.items() if key not in chosen}
    points = [
        # names first, because choosing another name drops the settings that only the old one has
        ((label, values), layered(layered(layered(layered(file.base, row), chosen), point(axes, values)), settings))
        for (label, row), values in product(rows.items(), product(*axes.values()))
    ]
    cells = _cells(points, list(axes), listed_seeds(file.plan.get("seeds", 3) if seeds is None else seeds))
    return Grid(name or file.name, cells, file.data_path, name is not None)


def _cells(points: Sequence[tuple[Point, Flat]], axes: list[str], seeds: list[int]) -> list[Cell]:
    cells, problems = [], []
    for (label, values), layer in points:
        settings = [f"{key.removesuffix('.name')}={shown(value)}" for key, value in zip(axes, values, strict=True)]
        title = " ".join([label, *settings] if label else settings)
        name = _slug(label or "-".join(shown(value) for value in values)) or layer.get("name", "run")
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


def _slug(label: str) -> str:
    """A label as the name of a run: "one-shot FedAvg" → "one-shot-fedavg"."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")


def _listed(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The axes of a file."""
    return {key: values if isinstance(values, list) else [values] for key, values in flat(grid).items()}
