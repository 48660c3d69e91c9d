"""Clients that are drawn when they are asked for: nothing goes through all of them."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.loader import Request
from equipoise.core.errors import ConfigError
from equipoise.partition.drawn import Drawn
from equipoise.partition.sample import COUNTED
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.fuse import Server, fuse
from equipoise.run.loop import first_snapshot
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import read
from tests.conftest import numbers, one_shot, records, tiny

from .conftest import Breaks

MANY = ("partition=drawn", "partition.clients=50000", "server.fraction=0.0001")


@pytest.fixture
def asked(monkeypatch) -> set[int]:
    """Who was asked for."""
    seen: set[int] = set()
    found = Drawn._draw

    def counting(self, client):
        seen.add(client)
        return found(self, client)

    monkeypatch.setattr(Drawn, "_draw", counting)
    return seen


@pytest.mark.parametrize("model", ["mlp", "resnet8"])
def test_a_run_asks_for_the_counted_and_for_those_at_work(store, asked, model):
    """resnet8 has BatchNorm, so a server recalibrates as well."""
    config = tiny(*MANY, "evaluate.beside=each", model=model)
    run_id = start(store, Request(config, None), Nobody())
    taking_part = {row.client for row in read.rows(store, run_id) if row.client is not None}
    assert len(taking_part) == 10
    assert asked == set(range(COUNTED)) | taking_part
    partition = read.partition(store, read.find_run(store, run_id).partition)
    assert (len(partition.counts), partition.n_clients) == (COUNTED, 50_000)
    assert partition.overlap_text == "≈ 100.0%"
    assert [client.client for client in read.clients(store, run_id)] == list(range(COUNTED))
    kinds = [recorded.event.kind for recorded in read.events(store, run_id)]
    assert kinds == ["started", "partition-overlap"]


def test_a_client_learns_the_same_however_many_others_there_are():
    few, many = (build(tiny("partition=drawn", f"partition.clients={clients}")) for clients in (7, 70_000))
    for client in range(7):
        assert np.array_equal(few.site.indices[client], many.site.indices[client])
        assert few.site.counts(client).tolist() == many.site.counts(client).tolist()


def test_a_run_of_many_goes_on_to_the_same_numbers(store):
    config = tiny(*MANY, "rounds=3")
    with pytest.raises(RuntimeError):
        start(store, Request(config, None), Breaks(RuntimeError(), step=1))
    run = read.find_run(store, "latest")
    resume(store, run, Nobody())
    found = {(row.step, row.client, row.name): row.value for row in read.rows(store, run.run_id)}
    assert {key: found[key] for key in found if key[2] != "seconds"} == numbers(records(config))


def test_resume_of_another_rule_is_refused(store, monkeypatch):
    config = tiny(*MANY, "rounds=3")
    with pytest.raises(RuntimeError):
        start(store, Request(config, None), Breaks(RuntimeError(), step=0))
    init = Drawn.__init__
    monkeypatch.setattr(Drawn, "__init__", lambda self, labels, n, options, seed: init(self, labels, n, options, 99))
    with pytest.raises(ConfigError, match="the data is not what"):
        resume(store, read.find_run(store, "latest"), Nobody())


def test_other_servers_on_the_same_clients(store, asked):
    config = one_shot(*MANY)
    run_id = start(store, Request(config, None), Nobody())
    ids = fuse(store, read.find_run(store, run_id), [Server(predict="energy-gate"), Server(predict="common-gate")])
    assert len({run_id, *ids}) == 3
    assert len(asked) == COUNTED + sum(client >= COUNTED for client in _cohort(config))


def _cohort(config):
    federation = build(config)
    return [task.client for task in plan(federation, first_snapshot(federation), 0)]


def test_centralised_pools_what_somebody_drew(asked):
    federation = build(tiny("method=centralised", "partition=drawn", "partition.clients=100000"))
    assert federation.site.indices[0].tolist() == list(range(180))
    assert len(asked) == COUNTED  # long before the last of them everything was drawn
    few = build(tiny("method=centralised", "partition=drawn", "partition.clients=3"))
    assert few.site.indices[0].tolist() == sorted(set(np.concatenate(list(few.partition.indices)).tolist()))
    assert len(few.site.indices[0]) <= 60
