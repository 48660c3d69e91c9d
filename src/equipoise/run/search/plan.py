"""A search as it was asked for: what every trial starts from, what it may vary, and how the next trial is chosen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from equipoise.config.check import check
from equipoise.config.layers import Flat, layered
from equipoise.config.loader import nested
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.run.grid import Cell, Grid
from equipoise.run.search.space import (
    SearchChoice,
    SearchRange,
    Settings,
    Space,
    corners,
    is_whole,
    read_space,
)
from equipoise.run.sweep_file import Overrides, listed_seeds, point, read_sweep

SAMPLERS, PRUNERS = ("tpe", "random"), ("median", "none")


@dataclass(frozen=True)
class SearchWay:
    """How trials are chosen, and how many."""

    trials: int
    sampler: str = "tpe"
    pruner: str = "median"
    search_seed: int = 0
    """Seed of what is drawn from the ranges; the runs have seeds of their own."""

    def require(self) -> None:
        problems = [Problem("--trials", f"expected one or more, got {self.trials}")] if self.trials < 1 else []
        problems += [Problem("--search-seed", "must not be negative")] if self.search_seed < 0 else []
        for option, given, known in (("--sampler", self.sampler, SAMPLERS), ("--pruner", self.pruner, PRUNERS)):
            if given not in known:
                problems.append(Problem(option, f"expected {' or '.join(known)}, got {given!r}"))
        if problems:
            raise ConfigError(problems)


@dataclass(frozen=True)
class SearchPlan:
    name: str
    is_named: bool
    base: Flat
    fixed: Flat
    space: Space
    seeds: list[int]
    way: SearchWay
    data_path: Path | None

    def config(self, settings: Mapping[str, Any], seed: int) -> Config:
        """The configuration of one run of a trial."""
        drawn = point(list(settings), list(settings.values()))
        layer = layered(layered(self.base, drawn), self.fixed)
        return check(nested({**layer, "name": layer.get("name", "run"), "seed": seed}))

    @property
    def samples(self) -> Grid:
        """The corners of the space as a grid, for what is decided before the first trial."""
        cells = [Cell("corner", self.config(each, self.seeds[0])) for each in corners(self.space)]
        return Grid(self.name, cells, self.data_path, self.is_named)

    def described(self) -> dict[str, Any]:
        """What the store keeps of it."""
        space = {
            key: {"values": list(axis.values)} if isinstance(axis, SearchChoice) else asdict(axis)
            for key, axis in self.space.items()
        }
        way = {key: value for key, value in asdict(self.way).items() if key != "trials"}
        return {"space": space, "seeds": self.seeds, **way}

    def fingerprint(self) -> str:
        """Hash of everything but the number of trials: more trials are the same search."""
        first = self.config(corners(self.space)[0], 0).fingerprint()
        return hashlib.sha256(json.dumps([first, self.described()], sort_keys=True).encode()).hexdigest()


def load_search(
    source: str, overrides: Overrides, way: SearchWay, seeds: Any = None, name: str | None = None
) -> SearchPlan:
    """The search of a sweep file with ranges under `search:`; `key=a,b` on the command line adds a list of values,
    and `key=a` takes the key out of the search. Everything is checked: all problems at once."""
    way.require()
    file = read_sweep(source, overrides)
    others = [Problem(key, "a search has no rows and axes: list the values under search:") for key in ("cells", "grid")]
    if found := [problem for problem in others if file.plan.get(problem.path)]:
        raise ConfigError(found, where=str(file.path))
    space, problems = read_space(file.plan.get("search") or {})
    listed, more = read_space(file.axes)
    problems += more
    space = {key: axis for key, axis in {**space, **listed}.items() if key not in file.fixed}
    if not space and not problems:
        problems.append(Problem("search", "there is nothing to vary; give ranges in a file, or key=a,b"))
    if problems:
        raise ConfigError(problems, where=str(file.path))
    file.refuse_seed(space)
    return _checked(
        SearchPlan(
            name=name or f"{file.name} search",
            is_named=name is not None,
            base=file.base,
            fixed=file.fixed,
            space=space,
            seeds=listed_seeds(file.plan.get("seeds", 1) if seeds is None else seeds),
            way=way,
            data_path=file.data_path,
        )
    )


def _checked(plan: SearchPlan) -> SearchPlan:
    """The plan with whole numbers told from others; refused if a corner of its space is no valid configuration."""
    configs, problems = [], []
    for settings in corners(plan.space):
        try:
            configs.append(_with_validation(plan.config(settings, plan.seeds[0])))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))
    space: dict[str, SearchRange | SearchChoice] = {}
    for key, axis in plan.space.items():
        if isinstance(axis, SearchChoice):
            space[key] = axis
            continue
        kinds = {is_whole(config, key) for config in configs} - {None}
        if not kinds:
            problems.append(Problem(f"search.{key}", "is not a number; list its values, as in [a, b]"))
        space[key] = replace(axis, is_whole=kinds == {True})
    if problems:
        raise ConfigError(problems)
    return replace(plan, space=space)


def _with_validation(config: Config) -> Config:
    if getattr(config.data, "split", None) == "slices":
        what = "a stream holds no validation back, and a search never chooses by test"
        raise ConfigError([Problem("data.split", f"{what}; data.split=leave-one-out or temporal has one")])
    return config


__all__ = ["PRUNERS", "SAMPLERS", "SearchPlan", "SearchWay", "Settings", "load_search"]
