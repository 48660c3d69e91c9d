"""Many runs: a grid × seeds over worker processes. Finished cells are not run again, stopped ones go on.

A cell is known by the hash of its configuration and the version that ran it, so a sweep may be stopped, killed,
extended and started again; nothing is trained twice. One-shot cells that differ in their server only are trained once:
the first of them trains, the others fuse its clients.
"""

from __future__ import annotations

import json
import selectors
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
from equipoise.store import read, write
from equipoise.store.database import Store

State = Literal["waiting", "running", "done", "failed"]


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
    contents = Contents(grid)
    places = [_known(store, cell, contents) for cell in grid.cells]
    trained = _trained(store, grid, contents)
    waiting = [i for i, place in enumerate(places) if place.state == "waiting"]
    idle: list[Child] = []
    busy: dict[int, tuple[Child, int]] = {}
    try:
        while waiting or busy:
            while len(busy) < jobs and (i := _next(places, waiting, [i for _, i in busy.values()])) is not None:
                waiting.remove(i)
                child = idle.pop() if idle else Child("equipoise.run.cell")
                places[i] = replace(places[i], state="running")
                busy[child.socket.fileno()] = (child, i)
                with suppress(ConnectionError):  # a child that is gone is noticed when it is waited for
                    send(child.socket, _order(location, grid, places[i], _source(trained, places[i])))
            follow(places)
            for number in _ready(busy):
                child, i = busy.pop(number)
                answer = receive(child.socket)
                if answer is None:
                    child.kill()
                    code = child.process.returncode
                    places[i] = replace(places[i], state="failed", error=f"its process died (exit code {code})")
                else:
                    idle.append(child)
                    places[i] = replace(places[i], **json.loads(answer))
                    key = _training(places[i])
                    if places[i].state == "done" and key is not None:
                        trained.setdefault(key, str(places[i].run_id))
    finally:
        for child, _ in busy.values():
            child.process.terminate()
        for child in [*idle, *(child for child, _ in busy.values())]:
            child.close()
    write.set_members(store, grid.name, [(p.cell.label, p.run_id) for p in places if p.state == "done" and p.run_id])
    follow(places)
    return places


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
    """Where a cell stands before the sweep: done already, begun by an earlier sweep, or not begun."""
    found = read.runs(store, config_hash=cell.config.fingerprint())
    runs = [run for run in found if run.version == __version__ and run.environment["content"] == contents.of(cell)]
    for run in runs:
        if run.status == "done":
            value = read.final_metrics(store, run.run_id).get(run.headline)
            return Place(cell, "done", run.run_id, value=value, is_reused=True)
    for run in runs:
        if run.status == "running":
            return Place(cell, "failed", run.run_id, error=f"another process is running it as {run.run_id}")
    return Place(cell, run_id=runs[0].run_id if runs else None)


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
            if key is not None and key in cells and run.environment["content"] == contents.of(cells[key]):
                found[key] = run.run_id
    return found


def _next(places: Sequence[Place], waiting: Sequence[int], running: Sequence[int]) -> int | None:
    """The first cell whose clients are not being trained by another one just now."""
    under_way = {_training(places[i]) for i in running} - {None}
    return next((i for i in waiting if _training(places[i]) not in under_way), None)


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
