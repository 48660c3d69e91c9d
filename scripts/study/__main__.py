"""Train the study and write docs/results: `make study`, resumable; or the pages alone from a store that has it.

python -m scripts.study [--scale small] [--only NAME …] [--seeds 1] [--rows LABEL …] [--store DB] [--pages-only]
                        [--commit HASH]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from scripts.study import (
    drift,
    drift_movielens,
    everybody,
    feddmmr_fixes,
    methods,
    ours,
    page,
    read,
    recommendation,
    records,
    skew,
    svhn_explosion,
    two_stage,
    upload,
    why_v10_fails,
    why_v11_fails,
)

from equipoise.cli.sweep import carried_out, require_all
from equipoise.core.registry import suggestion
from equipoise.run.grid import Grid, load_grid
from equipoise.run.placed import placed
from equipoise.store.database import open_existing

VISION: dict[str, ModuleType] = {
    "why-v10-fails": why_v10_fails,
    "why-v11-fails": why_v11_fails,
    "svhn-explosion": svhn_explosion,
    "two-stage": two_stage,
    "ours": ours,
    "methods": methods,
}
RECOMMENDATION: dict[str, ModuleType] = {
    "recommendation": recommendation,
    "feddmmr-fixes": feddmmr_fixes,
    "drift": drift,
    "recommendation-everybody": everybody,
    "drift-movielens": drift_movielens,
}
CLOSED: dict[str, ModuleType] = {"skew": skew, "upload": upload}
KEPT = RECOMMENDATION | CLOSED
"""Studies whose finished runs are kept as lines."""
PAGES = VISION | KEPT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.study", description=__doc__)
    parser.add_argument("--scale", default="small")
    parser.add_argument("--only", nargs="*", choices=list(PAGES), default=list(VISION))
    parser.add_argument("--store", default="runs/study.db")
    parser.add_argument("--pages-only", action="store_true", help="train nothing")
    parser.add_argument("--seeds", help="how many seeds to train now, or which (0,2); all unless given")
    parser.add_argument("--rows", nargs="*", help="labels of the rows to train now; all unless given")
    parser.add_argument("--jobs", type=int, help="runs at a time; all cores unless given")
    parser.add_argument("--commit", default=_commit(), help="what the runs were made by")
    given = parser.parse_args()
    sweeps = [sweep for name in given.only for sweep in _sweeps(name, given.scale)]
    known = {cell.label for sweep in sweeps for cell in load_grid(*_split(sweep)).cells}
    for row in set(given.rows or ()) - known:
        parser.error(f"there is no row '{row}'{suggestion(row, list(known))}")
    for name in given.only:
        study, commits = (_kept if name in KEPT else _stored)(name, given)
        parts = [_made_by(_sweeps(name, given.scale), study, commits), *PAGES[name].parts(study)]
        print(f"wrote {page.write(name, PAGES[name].TITLE, parts)}")


def _stored(name: str, given: argparse.Namespace) -> tuple[read.Study, str]:
    """A study whose clients are looked at again: the store has to be there."""
    sweeps = _sweeps(name, given.scale)
    for sweep in sweeps:
        _train(load_grid(*_split(sweep), given.seeds), given)
    with open_existing(given.store) as store:
        return read.load(store, *sweeps), given.commit


def _kept(name: str, given: argparse.Namespace) -> tuple[read.Study, str]:
    """A study of numbers alone: what was recorded before is neither trained nor looked up again."""
    cells = []
    for sweep in _sweeps(name, given.scale):
        cells += load_grid(*_split(sweep)).cells
        done = records.load(name, cells)
        grid = load_grid(*_split(sweep), given.seeds)
        _train(replace(grid, cells=[c for c in grid.cells if placed(c.config).fingerprint() not in done]), given)
    if Path(given.store).exists():
        with open_existing(given.store) as store:
            records.keep(name, cells, store, given.commit, getattr(PAGES[name], "CLIENTS", ()))
    return records.study(name, cells), ", ".join(records.commits(name, cells))


def _train(grid: Grid, given: argparse.Namespace) -> None:
    cells = [cell for cell in grid.cells if given.rows is None or cell.label in given.rows]
    if cells and not given.pages_only:
        require_all(carried_out(replace(grid, cells=cells), given.store, given.jobs))


def _sweeps(name: str, scale: str) -> list[str]:
    return [f"{one} scale={scale}" for one in getattr(PAGES[name], "SWEEPS", [f"studies/{name}"])]


def _split(sweep: str) -> tuple[str, list[str]]:
    source, *overrides = sweep.split()
    return source, overrides


def _made_by(sweeps: Sequence[str], study: read.Study, commit: str) -> str:
    seeds = ", ".join(str(seed) for seed in study.seeds)
    ranks = any(name.startswith("hr@") for name in study.rows["name"].unique())
    figures = "Hit rates and gains are shares" if ranks else "Accuracies are in percent"
    return (
        f"Made by `equipoise sweep {' and '.join(sweeps)}` at commit {commit}, seeds {seeds}, one thread a run, "
        f"{os.cpu_count()} cores, {platform.machine()}. {figures} on test, mean ± deviation over seeds; λ, losses and "
        "gradients are means over the steps of a checkpoint unless called last."
    )


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
