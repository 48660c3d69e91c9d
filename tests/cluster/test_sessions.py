"""Runs, resumed runs and sweeps on a cluster, and requests that cannot be met."""

from __future__ import annotations

import os
import signal
import socket
import threading

import pytest

from equipoise.config.loader import Request
from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.ray_cluster import joined
from equipoise.engine.settings import RayOptions
from equipoise.run.cell_actors import CellActors
from equipoise.run.grid import Cell, Grid
from equipoise.run.placed import Elsewhere, on_engine
from equipoise.run.session import resume, start
from equipoise.run.sweep import sweep
from equipoise.run.watch import Nobody
from equipoise.store import read
from tests.conftest import nobody, tiny
from tests.unit.run.conftest import Breaks, location, store

__all__ = ["location", "store"]

CONFIG = tiny("rounds=3", "method=fedavgm")


def numbers(opened, run_id: str):
    return [row for row in read.rows(opened, run_id) if row.name != "seconds"]


@pytest.fixture
def whole(store):
    return numbers(store, start(store, Request(CONFIG, None), Nobody()))


@pytest.mark.parametrize("way", ["to the cluster", "from the cluster"])
def test_a_run_goes_on_with_another_engine_to_the_last_bit(way, store, whole, machines):
    there = {"name": "ray", "address": machines.address, "workers": 1}
    before, after = (CONFIG, there) if way == "to the cluster" else (on_engine(CONFIG, there), {"name": "local"})
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(before, None), Breaks(KeyboardInterrupt(), 0))
    run = read.find_run(store, "latest")
    resume(store, run, Nobody(), elsewhere=Elsewhere(engine=after))
    assert numbers(store, run.run_id) == whole
    (event,) = [each.event for each in read.events(store, run.run_id) if each.event.kind == "engine-changed"]
    names = ("local", "ray") if way == "to the cluster" else ("ray", "local")
    assert event.message == f"from {names[0]} to {names[1]}, which gives the same numbers"


def test_a_sweep_on_the_cluster_and_a_cell_whose_worker_is_killed(store, location, machines):
    grid = Grid("s", [Cell(f"seed {k}", tiny("rounds=20", f"seed={k}")) for k in range(2)], None)
    workers, killed = CellActors(machines.address, 2, location), []

    def kill_one(places):
        if not killed and workers._busy:
            hand, _ = next(iter(workers._busy.values()))
            killed.append(hand.pid)
            threading.Timer(1.0, os.kill, (hand.pid, signal.SIGKILL)).start()

    places = sweep(store, location, grid, workers, kill_one)
    assert [(place.state, place.error) for place in places] == [("done", None)] * 2
    assert killed
    alone = sweep(store, location, Grid("t", [Cell("x", tiny("rounds=20", "seed=0"))], None), 1, nobody)
    assert alone[0].is_reused, "the same cell, whoever ran it"


def test_a_store_in_a_file_is_no_store_for_several_machines(machines, location, monkeypatch):
    monkeypatch.setattr("equipoise.run.cell_actors.platform.node", lambda: "somewhere-else")
    with pytest.raises(ConfigError, match="is a file of this machine, and cells would run on") as caught:
        CellActors(machines.address, 1, location)
    assert "postgresql://" in caught.value.fix


def test_auto_is_the_cluster_that_is_there(machines):
    assert joined(RayOptions(address="auto")) is False, "joined before"


def test_a_run_whose_cluster_is_gone_names_the_way_on(store, machines):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody_here = f"127.0.0.1:{free.getsockname()[1]}"
    config = on_engine(CONFIG, {"name": "ray", "address": machines.address, "workers": 1})
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(config, None), Breaks(KeyboardInterrupt(), 0))
    run = read.find_run(store, "latest")
    with pytest.raises(ConfigError, match=f"no Ray cluster answers at {nobody_here}") as caught:
        resume(store, run, Nobody(), elsewhere=Elsewhere(engine={"address": nobody_here}))
    assert "--engine local" in caught.value.fix


def test_a_cluster_that_disappears_is_told(machines, monkeypatch):
    import ray

    from equipoise.engine import ray_cluster

    def gone():
        raise ConnectionError("connection lost")

    monkeypatch.setattr(ray, "nodes", gone)
    with pytest.raises(EngineError, match="the Ray cluster does not answer any more: connection lost"):
        ray_cluster.machines(RayOptions())
