"""One-shot cells that differ in their server only are trained once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from equipoise.config.loader import Request
from equipoise.run import sweep as module
from equipoise.run.cell_processes import CellProcesses
from equipoise.run.grid import Cell, Grid
from equipoise.run.session import start
from equipoise.run.sweep import sweep
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.claims import Claims
from tests.conftest import nobody, one_shot, tiny

pytestmark = pytest.mark.usefixtures("cells_here")
PLAIN = ("method=fafi", "data.limit=100")


def a_grid(**cells: tuple[str, ...]) -> Grid:
    return Grid("servers", [Cell(label, one_shot(*PLAIN, *extra)) for label, extra in cells.items()], None)


def kinds(store, run_id: str) -> list[str]:
    return [recorded.event.kind for recorded in read.events(store, run_id)]


def test_one_of_those_that_differ_in_their_server_is_trained_and_the_others_are_fused(store, location):
    grid = a_grid(plain=(), gate=("server.predict=energy-gate",), unit=("server.merge=unit",), fast=("client.lr=0.2",))
    places = sweep(store, location, grid, 2, nobody)
    assert [place.state for place in places] == ["done"] * 4, [place.error for place in places]
    alone, fused = ["started"], ["started", "fused"]
    assert [kinds(store, place.run_id) for place in places] == [alone, fused, fused, alone]
    for place in places[1:3]:
        (event,) = [one.event for one in read.events(store, place.run_id) if one.event.kind == "fused"]
        assert event.detail == {"from": places[0].run_id}
    beside = read.final_metrics(store, places[0].run_id)
    assert places[1].value == beside["accuracy/merged/energy-gate"]
    run = read.find_run(store, places[1].run_id)
    assert (run.sweep, run.cell) == ("servers", "gate")
    assert read.members(store, "servers") == [(place.cell.label, place.run_id) for place in places]
    again = sweep(store, location, grid, 2, nobody)
    assert [(place.run_id, place.is_reused) for place in again] == [(place.run_id, True) for place in places]


def test_the_clients_of_a_run_from_before_the_sweep_are_used(store, location):
    trained = start(store, Request(one_shot(*PLAIN), None), Nobody())
    (place,) = sweep(store, location, a_grid(gate=("server.predict=iffi",)), 1, nobody)
    assert kinds(store, place.run_id) == ["started", "fused"]
    (event,) = [one.event for one in read.events(store, place.run_id) if one.event.kind == "fused"]
    assert event.detail == {"from": trained}


def test_cells_in_rounds_are_all_trained(store, location):
    """FedProto's clients keep their models in rounds too, so that fusing them looks like a result."""
    cells = [Cell(f"lr {lr}", tiny("method=fedproto", "data.limit=100", f"client.lr={lr}")) for lr in (0.05, 0.2)]
    places = sweep(store, location, Grid("rounds", cells, None), 1, nobody)
    assert [place.state for place in places] == ["done", "done"]
    assert [kinds(store, place.run_id) for place in places] == [["started"], ["started"]]


def test_what_moves_a_client_and_what_does_not():
    base = one_shot(*PLAIN)
    for same in ("server.predict=iffi", "server.merge=unit", "engine=processes", "name=other"):
        assert one_shot(*PLAIN, same).training_fingerprint() == base.training_fingerprint(), same
    for other in (
        "seed=1",
        "evaluate.every=2",
        "client.lr=0.2",
        "server.fraction=0.5",
        "engine.threads=9",
        "method.tau=0.1",
    ):
        assert one_shot(*PLAIN, other).training_fingerprint() != base.training_fingerprint(), other
    assert one_shot(*PLAIN, "server.predict=iffi").fingerprint() != base.fingerprint()
    assert tiny().training_fingerprint() is None


class Here(Claims):
    """Cells that this process has claimed, in their order."""

    def __init__(self, store):
        super().__init__(store)
        self.asked = []

    def take(self, key):
        self.asked.append(key)
        return super().take(key)


def test_clients_that_are_being_trained_are_waited_for(store, location, monkeypatch):
    """Of two cells of the same clients the second waits; those of other clients, and rounds, do not."""
    cells = [*a_grid(plain=(), gate=("server.predict=energy-gate",), other=("seed=1",)).cells]
    cells += [Cell("a", tiny()), Cell("b", tiny("seed=1"))]
    begun: list[int] = []
    monkeypatch.setattr(module.Sweep, "_begin", lambda self, i: begun.append(i) or busy(self, i))

    def busy(self, i):
        self.places[i] = replace(self.places[i], state="running")
        self.busy[-1 - i] = i

    under_way = module.Sweep(store, location, Grid("s", cells, None), CellProcesses(5))
    with Here(store) as claims:
        under_way.give_out(claims)
    assert begun == [0, 2, 3, 4]
    assert under_way.waiting == [1]


def test_an_order_names_the_run_whose_clients_to_use():
    grid = a_grid(plain=())
    assert json.loads(module._order("x.db", grid, module.Place(grid.cells[0]), "r-7"))["clients_of"] == "r-7"
    assert json.loads(module._order("x.db", grid, module.Place(grid.cells[0]), None))["clients_of"] is None
