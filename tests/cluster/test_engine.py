"""What a Ray cluster does with clients: the bits of this process, whatever is killed on the way."""

from __future__ import annotations

import os
import signal
import time

import pytest

from equipoise.core.errors import ClientError, EngineError
from equipoise.core.values import ClientFailure
from equipoise.engine import ray_engine
from equipoise.engine.local import Local
from equipoise.engine.ray_engine import Ray
from equipoise.run.placed import on_engine
from tests.conftest import assert_same, assert_same_update, numbers, one_shot, records, tiny
from tests.contract.test_recommend import rec
from tests.unit.engine.conftest import BAD_CLIENT, a_site, tasks_of

SETTINGS = {
    "fedavg": tiny("client.optimiser=adamw"),
    "etf-align": one_shot("method=etf-align", "balance=v12"),
    "analytic": one_shot("method=analytic"),
    "recommender": rec("rounds=1"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_numbers_of_this_process_to_the_last_bit(name, machines):
    """What the runs of other engines have, the one on the cluster has too: the axis of clients that train together."""
    config = SETTINGS[name]
    on_ray = on_engine(config, {"name": "ray", "address": machines.address, "workers": 1})
    ours, local = records(on_ray), records(config)
    assert numbers(ours) == numbers(local)
    assert_same(ours[-1].snapshot.server.model, local[-1].snapshot.server.model)


@pytest.fixture
def strike(monkeypatch):
    """Do something to a worker the moment it has been handed a task; the processes that were struck."""

    def prepare(engine, blow, times: int = 1) -> list[int]:
        struck: list[int] = []
        real = ray_engine.Ray._collect

        def collect(self, schedule):
            for busy in list(engine._busy.values()):
                if len(struck) < times and busy.hand.pid not in struck:
                    struck.append(busy.hand.pid)
                    blow(busy.hand)
            real(self, schedule)

        monkeypatch.setattr(ray_engine.Ray, "_collect", collect)
        return struck

    return prepare


def killed(hand) -> None:
    os.kill(hand.pid, signal.SIGKILL)


def stopped(hand) -> None:
    os.kill(hand.pid, signal.SIGSTOP)


LONG = range(300)
"""Epochs that last longer than it takes to kill their worker."""


@pytest.fixture(scope="module")
def long():
    site = a_site()
    return list(Local(site).map(tasks_of(site, epochs=LONG)))


def test_a_killed_machine_costs_what_it_had_and_that_is_run_again(engine_of, strike, long, machines):
    node = machines.add()
    engine = engine_of("engine.workers=3")
    lost: list[str] = []

    def power_off(hand) -> None:
        if hand.machine.key == node.node_id and not lost:
            lost.append(hand.machine.name)
            machines.kill(node)

    strike(engine, power_off, times=3)
    results = list(engine.map(tasks_of(a_site(), epochs=LONG)))
    for result, other in zip(results, long, strict=True):
        assert_same_update(result, other)
    assert lost, "that machine was given nothing"
    assert {event.kind for event in engine.take_events()} == {"worker-lost", "machine-lost"}
    assert node.node_id not in engine._crew.machines


def test_a_machine_that_joins_in_mid_run_is_used(engine_of, machines, strike):
    engine = engine_of()
    assert [result.client for result in engine.map(tasks_of(a_site()))] == [0, 1, 2]
    assert engine.n_workers == 2
    node = machines.add()
    seen: set[str] = set()
    strike(engine, lambda hand: seen.add(hand.machine.key), times=50)
    deadline = time.monotonic() + 60
    while node.node_id not in seen and time.monotonic() < deadline:
        list(engine.map(tasks_of(a_site(), epochs=LONG)))
    assert node.node_id in seen
    assert "machine-joined" in [event.kind for event in engine.take_events()]
    machines.kill(node)


def test_data_by_path_is_read_where_the_machines_share_a_folder(engine_of, tmp_path, expected):
    engine = engine_of("engine.workers=1", f"engine.data_folder={tmp_path}")
    (result,) = engine.map(tasks_of(a_site(), (1,)))
    assert_same_update(result, expected[1])
    (file,) = tmp_path.iterdir()
    assert file.suffix == ".site"


def test_a_machine_with_another_version_is_refused_in_words(engine_of, monkeypatch):
    engine = engine_of("engine.workers=1")
    engine._order["versions"] = {"equipoise": "0.0.1", "torch": "1", "numpy": "1"}
    monkeypatch.setattr(
        "equipoise.engine.ray_crew.versions", lambda: {"equipoise": "0.0.1", "torch": "1", "numpy": "1"}
    )
    with pytest.raises(
        EngineError, match=r"no worker can start on .*: it has equipoise .*, not 0\.0\.1, torch"
    ) as caught:
        list(engine.map(tasks_of(a_site(), (0,))))
    assert "pip install" in caught.value.fix
    assert "machine-refused" in [event.kind for event in engine.take_events()]


def test_a_node_that_cannot_be_opened_is_told(engine_of):
    engine = engine_of("engine.workers=1")
    engine._order["device"] = "cuda:7"
    with pytest.raises(EngineError, match=r"no worker can start on .*cuda:7"):
        list(engine.map(tasks_of(a_site(), (0,))))


def test_workers_that_no_machine_has_room_for(engine_of):
    with pytest.raises(EngineError, match="no machine of the Ray cluster has 1000 processors for a worker"):
        list(engine_of("engine.threads=1000").map(tasks_of(a_site(), (0,))))


@pytest.fixture(scope="module")
def two_workers(machines):
    engine = Ray(a_site("engine=ray", f"engine.address={machines.address}", "engine.workers=2"))
    yield engine
    engine.close()


@pytest.fixture
def under(two_workers, monkeypatch):
    """The engine of two workers under other settings of its own."""

    def make(**settings):
        options = two_workers.options.model_copy(update=settings)
        monkeypatch.setattr(two_workers, "options", options)
        monkeypatch.setattr(two_workers._crew, "options", options)
        return two_workers

    return make


def test_a_killed_worker_costs_what_it_had_and_that_is_run_again(two_workers, strike, long):
    engine = two_workers
    struck = strike(engine, killed)
    results = list(engine.map(tasks_of(a_site(), epochs=LONG)))
    for result, other in zip(results, long, strict=True):
        assert_same_update(result, other)
    (event,) = [event for event in engine.take_events() if event.kind == "worker-lost"]
    assert event.step == 0
    assert "died (ActorDiedError); run again" in event.message
    assert struck[0] not in engine.pids()


def test_a_dropped_client_is_a_failure_not_an_error(under, strike):
    engine = under(on_death="drop")
    strike(engine, killed)
    (result,) = engine.map(tasks_of(a_site(), (1,), epochs=LONG))
    assert isinstance(result, ClientFailure)
    assert (result.client, result.kind) == (1, "worker-lost")
    assert result.error.endswith("died (ActorDiedError); dropped")
    assert engine.take_events() == [], "the failure is the event"


def test_a_client_that_kills_every_worker_ends_the_run(under, strike):
    engine = under(retries=1)
    struck = strike(engine, killed, times=10)
    with pytest.raises(EngineError, match=r"that was attempt 2") as caught:
        list(engine.map(tasks_of(a_site(), (2,), epochs=LONG)))
    assert caught.value.where == "checkpoint 1"
    assert len(struck) == 2
    assert [event.client for event in engine.take_events()] == [2]


def test_a_worker_that_hangs_is_replaced(under, strike, expected):
    engine = under(timeout=2.0)
    struck = strike(engine, stopped)
    (result,) = engine.map(tasks_of(a_site(), (0,)))
    assert_same_update(result, expected[0])
    (event,) = engine.take_events()
    assert event.message.endswith("was silent for 2.0 s; run again")
    assert struck[0] not in engine.pids()


def test_an_error_in_a_worker_is_raised_here_and_the_engine_goes_on(two_workers, expected):
    engine = two_workers
    with pytest.raises(ClientError, match=r"client 3 failed: \w+Error"):
        list(engine.map(tasks_of(a_site(), (BAD_CLIENT,))))
    (result,) = engine.map(tasks_of(a_site(), (1,)))
    assert_same_update(result, expected[1])


def test_answers_nobody_waits_for_are_given_up(two_workers):
    engine = two_workers
    list(engine.map(tasks_of(a_site(), (0, 1))))
    results = engine.map([*tasks_of(a_site(), (0,)), *tasks_of(a_site(), (1,), epochs=range(10**6))])
    assert next(results).client == 0
    fresh = engine.map(tasks_of(a_site(), (0, 2)))
    del results
    assert [result.client for result in fresh] == [0, 2]
