from __future__ import annotations

import os
import signal

import pytest

from equipoise.core.errors import ClientError, EngineError
from equipoise.core.values import ClientFailure, ClientUpdate
from equipoise.engine import processes
from equipoise.engine.processes import Processes
from equipoise.engine.schedule import Schedule
from tests.conftest import assert_same_update

from .conftest import BAD_CLIENT, a_site, tasks_of


def start(*overrides: str) -> Processes:
    return Processes(a_site("engine=processes", *overrides))


@pytest.fixture
def engine_of():
    engines = []

    def make(*overrides: str) -> Processes:
        engines.append(start(*overrides))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture(scope="module")
def two_workers():
    engine = start("engine.workers=2")
    yield engine
    engine.close()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def strike(monkeypatch):
    """Send a signal to workers the moment each has been handed a task; the pids that were struck."""

    def prepare(engine: Processes, number: int, times: int = 1) -> list[int]:
        struck: list[int] = []
        real = processes.send

        def send(connection, data):
            busy = engine._busy.get(connection.fileno())
            if busy is not None and len(struck) < times:
                struck.append(busy.worker.child.process.pid)
                os.kill(struck[-1], number)
            real(connection, data)

        monkeypatch.setattr(processes, "send", send)
        return struck

    return prepare


def test_the_same_results_as_in_this_process_to_the_last_bit_in_the_order_of_the_tasks(two_workers, expected):
    for order in ((2, 0, 1), (1, 2, 0)):  # the second time with workers that are there already
        results = list(two_workers.map(tasks_of(a_site(), order)))
        assert [result.client for result in results] == list(order)
        for result in results:
            assert isinstance(result, ClientUpdate)
            assert_same_update(result, expected[result.client])
    assert two_workers.take_events() == []
    assert len(two_workers.pids()) == 2


def test_an_error_in_a_worker_is_raised_here_and_the_engine_goes_on(two_workers, expected):
    with pytest.raises(ClientError, match=r"client 3 failed: \w+Error"):
        list(two_workers.map(tasks_of(a_site(), (BAD_CLIENT,))))
    (result,) = two_workers.map(tasks_of(a_site(), (1,)))
    assert_same_update(result, expected[1])


def test_a_worker_killed_with_a_task_in_hand_is_replaced_and_its_client_run_again(two_workers, expected, strike):
    struck = strike(two_workers, signal.SIGKILL)
    results = list(two_workers.map(tasks_of(a_site())))
    for result, other in zip(results, expected, strict=True):
        assert_same_update(result, other)
    (event,) = two_workers.take_events()
    assert (event.kind, event.step, event.client) == ("worker-lost", 0, 2)  # the largest client is begun first
    assert event.message == "the worker of client 2 died (exit code -9); run again"
    assert two_workers.take_events() == []
    assert is_gone(struck[0])
    assert struck[0] not in two_workers.pids()


def test_answers_nobody_waits_for_are_given_up(two_workers):
    endless = tasks_of(a_site(), (1,), epochs=range(10**6))
    results = two_workers.map([*tasks_of(a_site(), (0,)), *endless])
    assert next(results).client == 0
    at_work = set(two_workers.pids())
    assert len(at_work) == 2
    fresh = two_workers.map(tasks_of(a_site(), (0, 2)))
    del results
    assert [result.client for result in fresh] == [0, 2]
    (given_up,) = at_work - set(two_workers.pids())
    assert is_gone(given_up)


def test_workers_begin_before_results_are_asked_for(two_workers):
    results = two_workers.map(tasks_of(a_site(), (0, 1)))
    assert len(two_workers.pids()) == 2
    assert [result.client for result in results] == [0, 1]


def test_a_dropped_client_is_a_failure_not_an_error(engine_of, strike):
    engine = engine_of("engine.workers=1", "engine.on_death=drop")
    strike(engine, signal.SIGKILL)
    (result,) = engine.map(tasks_of(a_site(), (1,)))
    message = "the worker of client 1 died (exit code -9); dropped"
    assert result == ClientFailure(1, "worker-lost", message)
    assert engine.take_events() == [], "the failure is the event"


def test_a_client_that_kills_every_worker_ends_the_run(engine_of, strike):
    engine = engine_of("engine.workers=1", "engine.retries=1")
    struck = strike(engine, signal.SIGKILL, times=10)
    with pytest.raises(
        EngineError, match=r"the worker of client 2 died \(exit code -9\); that was attempt 2"
    ) as caught:
        list(engine.map(tasks_of(a_site(), (2,))))
    assert caught.value.where == "checkpoint 1"
    assert "engine.on_death=drop" in caught.value.fix
    assert len(struck) == 2
    assert [event.client for event in engine.take_events()] == [2]


def test_a_worker_that_hangs_is_replaced(engine_of, strike, expected):
    engine = engine_of("engine.workers=1", "engine.on_death=drop", "engine.timeout=0.2")
    struck = strike(engine, signal.SIGSTOP)
    (result,) = engine.map(tasks_of(a_site(), (0,)))
    assert isinstance(result, ClientFailure)
    assert result.error == "the worker of client 0 was silent for 0.2 s (exit code -9); dropped"
    assert is_gone(struck[0])
    engine.options = engine.options.model_copy(update={"timeout": None})
    (result,) = engine.map(tasks_of(a_site(), (0,)))
    assert_same_update(result, expected[0])


def test_a_worker_that_hangs_before_it_has_read_its_task_is_no_hang_of_ours(engine_of, strike):
    """A task larger than the socket holds cannot be handed to a worker that does not read."""
    engine = engine_of("engine.workers=1", "engine.on_death=drop", "engine.timeout=0.2")
    strike(engine, signal.SIGSTOP)
    (result,) = engine.map(tasks_of(a_site("model.hidden=3000"), (0,)))  # 2.4 MB
    assert isinstance(result, ClientFailure)
    assert "was silent for 0.2 s" in result.error


def test_nobody_is_left_after_close():
    engine = start("engine.workers=2")
    engine._give_out(Schedule.of(a_site(), tasks_of(a_site(), (0, 1))))
    pids = engine.pids()
    assert len(pids) == 2
    engine.close()
    assert all(is_gone(pid) for pid in pids)
    assert engine.pids() == []
    engine.close()  # twice does no harm


@pytest.mark.parametrize(
    ("overrides", "workers"),
    [(("engine.workers=2",), 2), (("engine.workers=50",), 4), (("engine.threads=1000",), 1)],
)
def test_no_more_workers_than_clients_and_never_none(engine_of, overrides, workers):
    assert engine_of(*overrides).n_workers == workers
