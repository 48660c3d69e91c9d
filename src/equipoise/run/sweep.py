"""Many runs: a grid × seeds over worker processes. Finished cells are not run again, stopped ones go on.

A cell is known by the hash of its configuration and the version that ran it, so a sweep may be stopped, killed,
extended and started again; nothing is trained twice. One-shot cells that differ in their server only are trained once:
the first of them trains, the others fuse its clients.

The same sweep may be started several times at once, on several machines over one PostgreSQL: each cell is claimed by
the process that runs it, and what others have claimed is waited for. Claims go with the process that holds them.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from equipoise import __version__
from equipoise.config.blocks import InteractionOptions
from equipoise.config.schema import Config, check
from equipoise.core.registry import DATASETS
from equipoise.data.feature_check import GIVEN
from equipoise.data.interactions import content_of as interactions_content
from equipoise.data.splits import content_of as images_content
from equipoise.engine.wire import Child, receive, send
from equipoise.run.build import load_histories
from equipoise.run.grid import Cell, Grid
from equipoise.run.matching import runs_of
from equipoise.store import blobs, read, write
from equipoise.store.claims import Claims
from equipoise.store.database import Store
from equipoise.store.records import Run

State = Literal["waiting", "running", "done", "failed"]
POLL = 1.0
"""Seconds after which cells of other processes are asked about again."""


@dataclass(frozen=True)
class Place:
    """A cell and where it stands."""

    cell: Cell
    state: State = "waiting"
    run_id: str | None = None
    error: str | None = None
    exit_code: int = 1
    """Of the error: 2 where the request was wrong."""
    value: float | None = None
    """The headline metric at the end, once it is done."""
    is_reused: bool = False


Follow = Callable[[Sequence[Place]], None]


def sweep(store: Store, location: str, grid: Grid, jobs: int, follow: Follow) -> list[Place]:
    """Every cell's place when all is done; `follow` is called whenever something may have changed."""
    name = write.name_sweep(store, grid.name, grid.fingerprint(), is_given=grid.is_named)
    under_way = Sweep(store, location, replace(grid, name=name), jobs)
    with Claims(store) as claims:
        try:
            while under_way.is_going:
                under_way.give_out(claims)
                follow(under_way.places)
                under_way.collect()
        finally:
            under_way.close()
    places = under_way.places
    write.set_members(store, name, [(p.cell.label, p.run_id) for p in places if p.state == "done" and p.run_id])
    follow(places)
    return places


class Sweep:
    """The cells of a grid, who works on them here, and what is left."""

    def __init__(self, store: Store, location: str, grid: Grid, jobs: int) -> None:
        self.store, self.location, self.grid, self.jobs = store, location, grid, jobs
        self.contents = Contents(grid)
        self.places = [_known(store, cell, self.contents) for cell in grid.cells]
        self.trained = _trained(store, grid, self.contents)
        self.waiting = [i for i, place in enumerate(self.places) if place.state == "waiting"]
        self.idle: list[Child] = []
        self.busy: dict[int, tuple[Child, int]] = {}

    @property
    def is_going(self) -> bool:
        return bool(self.waiting or self.busy)

    def give_out(self, claims: Claims) -> None:
        """Workers begin what nobody else has begun; what others finished meanwhile is taken from them."""
        self._let_go(claims)
        for i in list(self.waiting):
            if len(self.busy) == self.jobs:
                return
            if _training(self.places[i]) in self._under_way() or not claims.take(self._key(i)):
                continue
            self.places[i] = _known(self.store, self.places[i].cell, self.contents)
            if self.places[i].state != "done" and not self._is_running(i):
                self._begin(i)
            if self.places[i].state != "waiting":
                self.waiting.remove(i)

    def collect(self) -> None:
        """What workers have finished; where none is at work, a while for the others."""
        if not self.busy:
            time.sleep(POLL if self.waiting else 0)
        for number in _ready(self.busy) if self.busy else []:
            child, i = self.busy.pop(number)
            answer = receive(child.socket)
            if answer is None:
                child.kill()
                error = f"its process died (exit code {child.process.returncode})"
                self.places[i] = replace(self.places[i], state="failed", error=error)
            else:
                self.idle.append(child)
                self.places[i] = replace(self.places[i], **json.loads(answer))
                key = _training(self.places[i])
                if self.places[i].state == "done" and key is not None:
                    self.trained.setdefault(key, str(self.places[i].run_id))

    def close(self) -> None:
        for child, _ in self.busy.values():
            child.process.terminate()
        for child in [*self.idle, *(child for child, _ in self.busy.values())]:
            child.close()

    def _begin(self, i: int) -> None:
        child = self.idle.pop() if self.idle else Child("equipoise.run.cell")
        self.places[i] = replace(self.places[i], state="running")
        self.busy[child.socket.fileno()] = (child, i)
        with suppress(ConnectionError):  # a child that is gone is noticed when it is waited for
            place = self.places[i]
            send(child.socket, _order(self.location, self.grid, place, _source(self.trained, place)))

    def _is_running(self, i: int) -> bool:
        """Whether a process of this machine works on it that is no sweep, and so claims nothing."""
        run_id = self.places[i].run_id
        return run_id is not None and write.is_alive(self.store, run_id)

    def _key(self, i: int) -> str:
        """Cells that are trained once are claimed together."""
        config = self.places[i].cell.config
        return (
            f"{__version__}/{self.contents.of(self.places[i].cell)}/{_training(self.places[i]) or config.fingerprint()}"
        )

    def _under_way(self) -> set[str | None]:
        """What clients are being trained here just now."""
        return {_training(self.places[i]) for _, i in self.busy.values()} - {None}

    def _let_go(self, claims: Claims) -> None:
        """Of claims that nothing here waits for any more."""
        needed = {self._key(i) for i in [*self.waiting, *(i for _, i in self.busy.values())]}
        for key in claims.taken - needed:
            claims.release(key)


class Contents:
    """The hash of the data that a cell would read now; each set is read once, its limits do not matter."""

    def __init__(self, grid: Grid) -> None:
        self.folder = grid.data_path
        self.known: dict[str, str] = {}

    def of(self, cell: Cell) -> str:
        config, options = cell.config, cell.config.data
        key = options.model_dump_json(exclude={"limit", "test_limit", "validation", "public"})
        if isinstance(options, InteractionOptions) and options.features not in GIVEN:  # a control is drawn
            key += str(config.seed)
        if key not in self.known:
            self.known[key] = self._read(config)
        return self.known[key]

    def _read(self, config: Config) -> str:
        if isinstance(config.data, InteractionOptions):
            histories, features = load_histories(config, config.data, self.folder)
            return interactions_content(histories.interactions, features)
        return images_content(DATASETS.find(config.data.name).make(config.data, self.folder))


def _known(store: Store, cell: Cell, contents: Contents) -> Place:
    """Where a cell stands: done already, begun and left by somebody, or not begun.

    A run of another machine whose files are not here cannot be gone on with: the cell begins anew.
    """
    found = runs_of(store, cell.config)
    runs = [run for run in found if run.version == __version__ and run.environment["content"] == contents.of(cell)]
    for run in runs:
        if run.status == "done":
            value = read.final_metrics(store, run.run_id).get(run.headline)
            return Place(cell, "done", run.run_id, value=value, is_reused=True)
    here = [run for run in runs if _is_here(store, run)]
    return Place(cell, run_id=here[0].run_id if here else None)


def _is_here(store: Store, run: Run) -> bool:
    """Whether a run can be gone on with on this machine: it ran here, or its files are here."""
    if run.environment["host"] == socket.gethostname():
        return True
    newest = read.checkpoints(store, run.run_id)[:1]
    return run.status != "running" and all(blobs.is_there(store, d) for each in newest for d in each.manifest.values())


def _training(place: Place) -> str | None:
    return place.cell.config.training_fingerprint()


def _source(trained: Mapping[str, str], place: Place) -> str | None:
    """The run whose clients a cell can take; none in rounds, where the server is part of the training."""
    key = _training(place)
    return None if key is None else trained.get(key)


def _trained(store: Store, grid: Grid, contents: Contents) -> dict[str, str]:
    """Training hash → a run that is done and has those clients, for what the cells need."""
    cells = {key: cell for cell in grid.cells if (key := cell.config.training_fingerprint()) is not None}
    found: dict[str, str] = {}
    for run in read.runs(store, status="done") if cells else []:
        if run.version == __version__ and run.config["communication"] == "one-shot":
            key = check(run.config).training_fingerprint()
            is_same = key is not None and key in cells and run.environment["content"] == contents.of(cells[key])
            if is_same and _is_here(store, run):
                found[str(key)] = run.run_id
    return found


def _order(location: str, grid: Grid, place: Place, clients_of: str | None) -> bytes:
    order: dict[str, Any] = {
        "store": location,
        "config": place.cell.config.model_dump(),
        "run_id": place.run_id,
        "clients_of": clients_of,
        "sweep": grid.name,
        "cell": place.cell.label,
        "data_path": str(grid.data_path) if grid.data_path else None,
    }
    return json.dumps(order).encode()


def _ready(busy: dict[int, tuple[Child, int]]) -> list[int]:
    with selectors.DefaultSelector() as selector:
        for number in busy:
            selector.register(number, selectors.EVENT_READ)
        return [key.fd for key, _ in selector.select(timeout=1.0)]
