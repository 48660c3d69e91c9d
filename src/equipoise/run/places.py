"""The state of a sweep's cells before work starts: done, interrupted, or not begun."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Literal

from equipoise import __version__
from equipoise.config.check import check
from equipoise.core.errors import PluginError
from equipoise.run.grid import Cell, Grid
from equipoise.run.matching import runs_of
from equipoise.store import blobs, read
from equipoise.store.database import Store
from equipoise.store.records import Run

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True)
class Place:
    """A cell and its state."""

    cell: Cell
    state: State = "waiting"
    run_id: str | None = None
    error: str | None = None
    exit_code: int = 1
    """Exit code of the error: 2 if the request was wrong."""
    value: float | None = None
    """The headline metric at the end, once it is done."""
    is_reused: bool = False


class Contents:
    """Hashes of the data that cells would read now; each set is read once, whatever its limits."""

    def __init__(self, grid: Grid) -> None:
        self.folder = grid.data_path
        self.known: dict[str, str] = {}

    def of(self, cell: Cell) -> str:
        kind = cell.config.kind
        key: str = kind.load("content_key")(cell.config)
        if key not in self.known:
            self.known[key] = kind.load("content")(cell.config, self.folder)
        return self.known[key]


def place_of(store: Store, cell: Cell, contents: Contents) -> Place:
    """The state of a cell: done, interrupted, or not begun."""
    run = run_of(store, cell, contents)
    if run is None or run.status != "done":
        return Place(cell, run_id=run.run_id if run else None)
    value = read.final_metrics(store, run.run_id).get(run.headline)
    return Place(cell, "done", run.run_id, value=value, is_reused=True)


def run_of(store: Store, cell: Cell, contents: Contents) -> Run | None:
    """The finished run of a cell, or one that can go on.

    A run of another machine whose files are not here cannot be resumed: the cell starts again.
    """
    found = runs_of(store, cell.config)
    runs = [run for run in found if run.version == __version__ and run.environment["content"] == contents.of(cell)]
    usable = [run for run in runs if run.status == "done"] or [run for run in runs if is_here(store, run)]
    return usable[0] if usable else None


def is_here(store: Store, run: Run) -> bool:
    """Whether a run can be resumed on this machine: it ran here, or its files are here."""
    if run.environment["host"] == socket.gethostname():
        return True
    newest = read.checkpoints(store, run.run_id)[:1]
    return run.status != "running" and all(blobs.is_there(store, d) for each in newest for d in each.manifest.values())


def _training(run: Run) -> str | None:
    try:
        return check(run.config).training_fingerprint()
    except PluginError:  # its code is missing or has changed
        return None


def trained_clients(store: Store, grid: Grid, contents: Contents) -> dict[str, str]:
    """Training hash → a finished run with those clients, for the hashes that the cells need."""
    cells = {key: cell for cell in grid.cells if (key := cell.config.training_fingerprint()) is not None}
    found: dict[str, str] = {}
    for run in read.runs(store, status="done") if cells else []:
        if run.version == __version__ and not run.is_imported and run.config["communication"] == "one-shot":
            key = _training(run)
            is_same = key is not None and key in cells and run.environment["content"] == contents.of(cells[key])
            if is_same and is_here(store, run):
                found[str(key)] = run.run_id
    return found
