"""Runs a grid × seeds in worker processes. Finished cells are not run again, and stopped cells are resumed.

A cell is identified by the hash of its configuration and the version that ran it, so a sweep may be stopped, killed,
extended and started again; nothing is trained twice. One-shot cells that differ only in their server are trained once:
the first of them trains, and the others fuse its clients.

The same sweep may run several times at once, on several machines with one PostgreSQL database: each cell is claimed by
the process that runs it, and other processes wait for its result. A claim ends with the process that holds it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise import __version__
from equipoise.data.source import data_folder
from equipoise.run.cell_processes import Answer, CellProcesses, CellWorkers
from equipoise.run.grid import Grid
from equipoise.run.placed import placed
from equipoise.run.places import Contents, Place, is_here, place_of, trained_clients
from equipoise.store import read, write
from equipoise.store.claims import Claims
from equipoise.store.database import Store

POLL = 1.0
"""Seconds between two checks of the cells of other processes."""


Follow = Callable[[Sequence[Place]], None]


def sweep(store: Store, location: str, grid: Grid, workers: int | CellWorkers, follow: Follow) -> list[Place]:
    """The final state of every cell; `follow` is called whenever a state may have changed. `workers` are processes of
    this machine, by their number, or others."""
    crew = CellProcesses(workers) if isinstance(workers, int) else workers
    name = name_of(store, grid)
    cells = [replace(cell, config=placed(cell.config)) for cell in grid.cells]
    under_way = Sweep(store, location, replace(grid, name=name, cells=cells), crew)
    with Claims(store) as claims:
        try:
            while under_way.is_going:
                under_way.give_out(claims)
                follow(under_way.places)
                under_way.collect()
        finally:
            under_way.close()
    places = under_way.places
    write.set_members(store, name, _members(store, name, places))
    follow(places)
    return places


def name_of(store: Store, grid: Grid) -> str:
    """The name of a grid in this store."""
    labels = {cell.label for cell in grid.cells}
    return write.name_sweep(store, grid.name, grid.fingerprint(), labels, is_given=grid.is_named)


def _members(store: Store, name: str, places: Sequence[Place]) -> list[tuple[str, str]]:
    """(label, run id) of finished cells, and of other seeds of the same rows that finished before."""
    done = {(p.cell.label, p.cell.config.seed): p.run_id for p in places if p.state == "done" and p.run_id}
    seeds = {run.run_id: run.seed for run in read.runs(store, status="done")}
    for label, run_id in read.members(store, name):
        done.setdefault((label, seeds.get(run_id, -1)), run_id)
    return [(label, run_id) for (label, _), run_id in done.items()]


class Sweep:
    """The cells of a grid, the workers of this process, and the cells that are left."""

    def __init__(self, store: Store, location: str, grid: Grid, workers: CellWorkers) -> None:
        self.store, self.location, self.grid, self.workers = store, location, grid, workers
        self.contents = Contents(grid)
        self.places = [place_of(store, cell, self.contents) for cell in grid.cells]
        self.trained = trained_clients(store, grid, self.contents)
        self.waiting = [i for i, place in enumerate(self.places) if place.state == "waiting"]
        self.busy: dict[int, int] = {}
        """Keys of the workers' tasks, and their cells."""
        self.losses: Counter[int] = Counter()

    @property
    def is_going(self) -> bool:
        return bool(self.waiting or self.busy)

    def give_out(self, claims: Claims) -> None:
        """Give unclaimed cells to idle workers, and take over the results of cells that other processes finished."""
        self._let_go(claims)
        for i in list(self.waiting):
            if len(self.busy) >= self.workers.n:
                return
            if _training(self.places[i]) in self._under_way() or not claims.take(self._key(i)):
                continue
            self.places[i] = place_of(self.store, self.places[i].cell, self.contents)
            if self.places[i].state != "done" and not self._is_running(i):
                self._begin(i)
            self._note_clients(i)
            if self.places[i].state != "waiting":
                self.waiting.remove(i)

    def collect(self) -> None:
        """Collect results of workers; if none is working, wait for other processes."""
        if not self.busy:
            time.sleep(POLL if self.waiting else 0)
        for answer in self.workers.answers() if self.busy else []:
            self._take(self.busy.pop(answer.key), answer)

    def _take(self, i: int, answer: Answer) -> None:
        if answer.data is not None:
            self.places[i] = replace(self.places[i], **json.loads(answer.data))
            self._note_clients(i)
        elif self.losses[i] < self.workers.retries:
            self.losses[i] += 1
            self.places[i] = place_of(self.store, self.places[i].cell, self.contents)
            self.waiting.append(i)
        else:
            self.places[i] = replace(self.places[i], state="failed", error=answer.how)

    def close(self) -> None:
        self.workers.close()

    def _begin(self, i: int) -> None:
        place = self.places[i]
        self.places[i] = replace(place, state="running")
        self.busy[self.workers.begin(_order(self.location, self.grid, place, _source(self.trained, place)))] = i

    def _note_clients(self, i: int) -> None:
        """Cells that differ only in their server can use the clients of a finished one, if its files are here."""
        key, run_id = _training(self.places[i]), self.places[i].run_id
        is_done = self.places[i].state == "done" and key is not None and run_id is not None
        if is_done and is_here(self.store, read.find_run(self.store, str(run_id))):
            self.trained.setdefault(str(key), str(run_id))

    def _is_running(self, i: int) -> bool:
        """Whether a process of this machine that is not a sweep, and so claims nothing, is working on it."""
        run_id = self.places[i].run_id
        return run_id is not None and write.is_alive(self.store, run_id)

    def _key(self, i: int) -> str:
        """The name of a claim: cells that share their training are claimed together."""
        config = self.places[i].cell.config
        return (
            f"{__version__}/{self.contents.of(self.places[i].cell)}/{_training(self.places[i]) or config.fingerprint()}"
        )

    def _under_way(self) -> set[str | None]:
        """Training hashes of the cells that are being trained here."""
        return {_training(self.places[i]) for i in self.busy.values()} - {None}

    def _let_go(self, claims: Claims) -> None:
        """Release the claims that no cell of this process needs any more."""
        needed = {self._key(i) for i in [*self.waiting, *(i for i in self.busy.values())]}
        for key in claims.taken - needed:
            claims.release(key)


def _training(place: Place) -> str | None:
    return place.cell.config.training_fingerprint()


def _source(trained: Mapping[str, str], place: Place) -> str | None:
    """The run whose clients a cell can use; None with rounds, where the server is part of the training."""
    key = _training(place)
    return None if key is None else trained.get(key)


def _order(location: str, grid: Grid, place: Place, clients_of: str | None) -> bytes:
    """What a worker is told, which may have another working directory and other variables."""
    folder = data_folder(grid.data_path)
    order: dict[str, Any] = {
        "store": location if "://" in location else str(Path(location).resolve()),
        "config": place.cell.config.model_dump(),
        "run_id": place.run_id,
        "clients_of": clients_of,
        "sweep": grid.name,
        "cell": place.cell.label,
        "data_path": str(folder.resolve()) if folder else None,
    }
    return json.dumps(order).encode()
