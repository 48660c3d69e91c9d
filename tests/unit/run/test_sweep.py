from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.config.loader import Request
from equipoise.core.errors import ConfigError
from equipoise.kind.samples import build as samples
from equipoise.run import cell_processes, places
from equipoise.run import sweep as module
from equipoise.run.cell_processes import CellProcesses
from equipoise.run.grid import Cell, Grid
from equipoise.run.session import start
from equipoise.run.sweep import sweep
from equipoise.run.watch import Nobody
from equipoise.store import read, tables
from equipoise.store.claims import Claims
from equipoise.store.transact import writing
from tests.conftest import nobody, tiny

from .conftest import Breaks


def a_grid(*cells: tuple[str, str]) -> Grid:
    """One cell per (label, override)."""
    return Grid("a-sweep", [Cell(label, tiny("rounds=2", override)) for label, override in cells], None)


@pytest.fixture
def children(monkeypatch):
    """Every process the sweep starts."""
    started = []

    class Counted(cell_processes.Child):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            started.append(self)

    monkeypatch.setattr(cell_processes, "Child", Counted)
    return started


def all_gone(children) -> bool:
    return all(child.process.returncode is not None for child in children)


def test_finished_cells_are_not_run_again_stopped_ones_go_on_failed_ones_are_reported(store, location, children):
    done = start(store, Request(tiny("rounds=2", "seed=1"), None), Nobody())
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(tiny("rounds=2", "seed=2"), None), Breaks(KeyboardInterrupt(), 0))
    stopped = read.find_run(store, "latest").run_id
    seen: list[list[str]] = []
    grid = a_grid(("done", "seed=1"), ("stopped", "seed=2"), ("fails", "client.lr=1e30"), ("new", "seed=3"))
    places = sweep(store, location, grid, 1, lambda places: seen.append([place.state for place in places]))
    assert [place.state for place in places] == ["done", "done", "failed", "done"]
    assert [place.is_reused for place in places] == [True, False, False, False]
    assert [place.run_id for place in places[:2]] == [done, stopped]
    assert places[0].value == read.final_metrics(store, done)["accuracy/merged"]
    assert places[2].error is not None
    assert "loss/base is" in places[2].error
    new = read.find_run(store, str(places[3].run_id))
    assert (new.status, new.sweep, new.cell) == ("done", "a-sweep", "new")
    assert seen[0] == ["done", "running", "waiting", "waiting"]
    assert seen[-1] == ["done", "done", "failed", "done"]
    assert len(children) == 1  # one process for all cells
    assert all_gone(children)
    again = sweep(store, location, a_grid(("done", "seed=1"), ("renamed", "seed=3")), 1, nobody)
    assert [(place.state, place.is_reused) for place in again] == [("done", True)] * 2
    assert len(children) == 1


def test_a_killed_process_is_reported_and_the_others_go_on(store, location, children):
    def kill_the_first(places):
        if len(children) == 1 and children[0].process.returncode is None:
            os.kill(children[0].process.pid, signal.SIGKILL)

    places = sweep(store, location, a_grid(("first", "seed=1"), ("second", "seed=2")), 1, kill_the_first)
    assert [place.state for place in places] == ["failed", "done"]
    assert places[0].error == "its process died (exit code -9)"
    assert all_gone(children)


def test_ctrl_c_leaves_nobody_behind(store, location, children):
    def interrupt(places):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(store, location, a_grid(("first", "seed=1"), ("second", "seed=2")), 2, interrupt)
    assert len(children) == 2
    assert all_gone(children)


def test_a_run_of_another_version_is_not_reused(store, location, monkeypatch):
    start(store, Request(tiny("rounds=2", "seed=1"), None), Nobody())
    monkeypatch.setattr(places, "__version__", "99")
    grid = a_grid(("a", "seed=1"))
    assert places.place_of(store, grid.cells[0], places.Contents(grid)).state == "waiting"


def test_a_run_on_other_data_is_not_reused(store, monkeypatch):
    start(store, Request(tiny("rounds=2", "seed=1"), None), Nobody())
    grid = a_grid(("a", "seed=1"))
    assert places.place_of(store, grid.cells[0], places.Contents(grid)).state == "done"
    monkeypatch.setattr(samples, "content", lambda config, folder: "other")
    assert places.place_of(store, grid.cells[0], places.Contents(grid)).state == "waiting"


def test_a_cell_that_somebody_else_is_running_is_waited_for(store, location):
    """A run of no sweep on this machine: it has claimed nothing, and holds its lock."""
    seen = []

    class PredictionCache(Nobody):
        def checkpoint(self, record) -> None:
            under_way = module.Sweep(store, location, a_grid(("a", "seed=1")), CellProcesses(1))
            with Claims(store) as claims:
                under_way.give_out(claims)
            seen.append((under_way.places[0].state, under_way.waiting, len(under_way.busy)))

    start(store, Request(tiny("rounds=2", "seed=1"), None), PredictionCache())
    assert seen == [("waiting", [0], 0)] * 2


def test_a_cell_that_another_process_has_claimed_is_taken_from_it_when_it_is_done(store, location, monkeypatch):
    grid = a_grid(("a", "seed=1"))
    under_way, naps = module.Sweep(store, location, grid, CellProcesses(1)), []
    monkeypatch.setattr(module.time, "sleep", naps.append)
    with Claims(store) as theirs, Claims(store) as ours:
        assert theirs.take(under_way._key(0))
        under_way.give_out(ours)
        under_way.collect()
        assert (under_way.places[0].state, naps) == ("waiting", [module.POLL])
        run_id = start(store, Request(tiny("rounds=2", "seed=1"), None), Nobody())
        theirs.release(under_way._key(0))
        under_way.give_out(ours)
    assert (under_way.places[0].state, under_way.places[0].run_id) == ("done", run_id)
    assert under_way.places[0].is_reused
    assert not under_way.is_going


@pytest.mark.slow
def test_two_sweeps_of_one_name_do_not_share_a_table(store, location):
    """The second grid called like the first is numbered, a name that was given is refused, the first keeps its own."""
    first, second = a_grid(("a", "seed=1")), a_grid(("b", "client.lr=0.2"))
    for grid in (first, second, first):
        sweep(store, location, grid, 1, nobody)
    assert read.sweeps(store) == ["a-sweep", "a-sweep-2"]
    assert [[label for label, _ in read.members(store, name)] for name in read.sweeps(store)] == [["a"], ["b"]]
    with pytest.raises(ConfigError, match="sweep 'a-sweep' stands for another grid already") as caught:
        sweep(store, location, replace(second, is_named=True), 1, nobody)
    assert "known: a-sweep, a-sweep-2" in str(caught.value)
    more = Grid("a-sweep", [*first.cells, Cell("a", tiny("rounds=2", "seed=2"))], None)
    sweep(store, location, more, 1, nobody)  # more seeds of the same rows
    assert len(read.members(store, "a-sweep")) == 2


def test_an_order_says_all_a_cell_needs(tmp_path, store):
    grid = Grid("s", a_grid(("a", "seed=1")).cells, tmp_path)
    order = module._order("x.db", grid, module.Place(grid.cells[0], run_id="r-1"), "r-0")
    assert json.loads(order) == {
        "store": str(Path("x.db").resolve()),
        "config": grid.cells[0].config.model_dump(),
        "run_id": "r-1",
        "clients_of": "r-0",
        "sweep": "s",
        "cell": "a",
        "data_path": str(tmp_path),
    }


@pytest.mark.slow
def test_other_seeds_of_the_same_rows_stay_in_the_table(store, location):
    for seed in (1, 7):
        sweep(store, location, a_grid(("a", f"seed={seed}")), 1, nobody)
    assert sorted(read.find_run(store, run_id).seed for _, run_id in read.members(store, "a-sweep")) == [1, 7]


@pytest.mark.slow
def test_a_sweep_of_an_older_store_keeps_its_table(store, location):
    """Its grid is not known: another one of the same name is numbered, one with the same labels goes on with it."""
    sweep(store, location, a_grid(("a", "seed=1")), 1, nobody)
    with writing(store) as connection:
        connection.execute(tables.sweeps.delete())
    sweep(store, location, a_grid(("b", "client.lr=0.2")), 1, nobody)
    sweep(store, location, a_grid(("a", "seed=1")), 1, nobody)
    assert [[label for label, _ in read.members(store, name)] for name in read.sweeps(store)] == [["a"], ["b"]]
