"""The driver's side without a network: machines answer at once, or do what they are told instead."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest

from equipoise.core import notices
from equipoise.core.errors import EngineError
from equipoise.core.values import ClientFailure
from equipoise.engine.flower import engine as module
from equipoise.engine.flower.engine import Flower
from equipoise.engine.flower.link import Reply
from equipoise.engine.flower.machine import ClientMachine
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.flower.policy import Policy
from equipoise.engine.flower.share import dealt, write_share
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from tests.conftest import assert_same, numbers, records, tiny

NAMES = ("a", "b", "c")
LOCAL = ("partition.clients=5", "engine.together=1", "evaluate.beside=never")
QUICK = ("engine=flower", "engine.poll=0.001", "engine.patience=0.3")


class Wire:
    """What the link would carry. `does` says what a machine does at work: die, sleep, babble, or nothing special."""

    def __init__(self, folder) -> None:
        self.machines_: dict[int, ClientMachine] = {
            node: ClientMachine(folder / name, folder / f"{name}.state", Policy(), "cpu")
            for node, name in enumerate(NAMES)
        }
        self.does: dict[str, list[str]] = {}
        self.away: set[str] = set()
        self.replies: dict[str, Reply] = {}
        self.answers: dict[str, Reply] = {}
        """What those who sleep would have said."""
        self.closed: list[str] = []
        self.is_away = False

    def machines(self) -> dict[int, str]:
        return {node: NAMES[node] for node in self.machines_ if NAMES[node] not in self.away}

    def post(self, parcels: Mapping[int, Parcel]) -> dict[str, int]:
        sent = {}
        for node, parcel in parcels.items():
            message = f"message-{len(self.replies)}"
            sent[message] = node
            self.replies[message] = self._reply(node, message, parcel)
        return sent

    def _reply(self, node: int, message: str, parcel: Parcel) -> Reply:
        special = self.does.get(NAMES[node], [])
        what = special.pop(0) if special and parcel.header["do"] == "work" else ""
        if what == "die":
            return Reply(message, None, "the node is gone")
        answer = self.machines_[node].answer(parcel)
        if what == "sleep":
            self.answers[message] = Reply(message, answer)
            return Reply("never", None)
        return Reply(message, Parcel(answer.header, {"0": b"nonsense"}) if what == "babble" else answer)

    def collect(self, messages: Mapping[str, int]) -> Iterator[Reply]:
        return iter([reply for message in messages if (reply := self.replies[message]).message == message])

    def was_away(self) -> bool:
        found, self.is_away = self.is_away, False
        return found

    def close(self, status: str = "completed") -> None:
        self.closed.append(status)


@pytest.fixture
def wire(tmp_path, monkeypatch):
    site = build(tiny(*LOCAL)).site
    for name, clients in dealt(site.n_clients, NAMES).items():
        write_share(site, clients, tmp_path / name)
    wire = Wire(tmp_path)
    monkeypatch.setattr(module, "Link", lambda options: wire)
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.0)
    return wire


def engine_of(*overrides: str):
    federation = build(tiny(*LOCAL, *QUICK, *overrides))
    return Flower(federation.site), plan(federation, first_snapshot(federation), 0)


def test_the_numbers_of_the_local_engine(wire):
    assert numbers(records(tiny(*LOCAL, *QUICK))) == numbers(records(tiny(*LOCAL)))
    assert wire.closed == ["completed"]


def test_a_machine_that_dies_at_its_work_gets_it_again(wire):
    wire.does = {"b": ["die", "die"]}
    engine, tasks = engine_of()
    results = list(engine.map(tasks))
    assert [result.client for result in results] == [0, 1, 2, 3, 4]
    kinds = [event.kind for event in engine.take_events()]
    assert kinds.count("machine-lost") == 2
    for ours, theirs in zip(results, Local(build(tiny(*LOCAL)).site).map(tasks), strict=True):
        assert_same(ours.model, theirs.model)


def test_a_server_that_was_away_is_recorded_once(wire):
    engine, _ = engine_of()
    engine.take_events()
    wire.is_away = True
    assert [event.kind for event in engine.take_events()] == ["server-away"]
    assert engine.take_events() == []


def test_after_so_many_retries_its_clients_fail(wire):
    wire.does = {"b": ["die"] * 5}
    engine, tasks = engine_of("engine.retries=1")
    failed = [result for result in engine.map(tasks) if isinstance(result, ClientFailure)]
    assert [(result.client, result.kind) for result in failed] == [(1, "worker-lost"), (4, "worker-lost")]
    assert "attempt 2" in failed[0].error


def test_a_step_ends_without_those_who_are_late_if_enough_have_answered(wire):
    wire.does = {"c": ["sleep"]}
    engine, tasks = engine_of("server.deadline=0.05", "server.quorum=0.6")
    results = list(engine.map(tasks))
    assert [result.client for result in results if isinstance(result, ClientFailure)] == [2]
    (early,) = [event for event in engine.take_events() if event.kind == "ended-by-quorum"]
    assert early.detail["machines"] == ["c"]
    assert "ended with 4 of 5 clients; late: c" in early.message
    assert not [result for result in engine.map(tasks) if isinstance(result, ClientFailure)]


def test_below_the_quorum_it_waits_and_then_says_who_was_not_heard_of(wire):
    wire.does = {"a": ["sleep"], "b": ["sleep"]}
    engine, tasks = engine_of("server.deadline=0.05", "server.quorum=0.6")
    with pytest.raises(EngineError, match=r"nothing was heard of a, b for 0\.3 s"):
        list(engine.map(tasks))


def test_a_machine_that_is_there_may_train_for_long(wire):
    """It is silent for longer than engine.patience, and then its answer comes."""
    wire.does = {"a": ["sleep"]}
    engine, tasks = engine_of("engine.patience=0.1")
    asked = wire.replies
    results, began = engine.map(tasks), time.monotonic()
    late = next(message for message, reply in asked.items() if reply.message == "never")
    looked = wire.machines

    def machines() -> dict[int, str]:
        if time.monotonic() - began > 0.3:
            asked[late] = wire.answers[late]
        return looked()

    wire.machines = machines
    assert not [result for result in results if isinstance(result, ClientFailure)]


def test_a_machine_that_is_gone_for_too_long_ends_the_run(wire):
    wire.does = {"a": ["sleep"]}
    engine, tasks = engine_of("engine.patience=0.1")
    results = engine.map(tasks)
    wire.away = {"a"}
    with pytest.raises(EngineError, match=r"nothing was heard of a for 0\.1 s"):
        list(results)


def test_what_is_no_answer_costs_that_machine_s_clients(wire):
    wire.does = {"a": ["babble"]}
    engine, tasks = engine_of()
    failed = {result.client: result for result in engine.map(tasks) if isinstance(result, ClientFailure)}
    assert {client: result.kind for client, result in failed.items()} == {0: "invalid", 3: "invalid"}
    assert "machine a sent what is no answer" in failed[0].error


def test_a_machine_that_is_not_there_is_missed(wire):
    wire.away = {"b"}
    with pytest.raises(EngineError, match=r"no machine holds clients 1, 4 \(2 joined, 0 refused\)"):
        engine_of()
    assert wire.closed == ["failed"]


def test_with_a_deadline_the_federation_begins_without_it_and_it_may_come_later(wire):
    wire.away = {"b"}
    engine, tasks = engine_of("server.deadline=5", "server.quorum=0.5")
    absent = [result.client for result in engine.map(tasks) if isinstance(result, ClientFailure)]
    assert absent == [1, 4]
    wire.away = set()
    engine._look()
    assert not [result for result in engine.map(tasks) if isinstance(result, ClientFailure)]


def test_a_refused_machine_is_named_at_once(wire):
    wire.machines_[1] = ClientMachine(wire.machines_[1].data, wire.machines_[1].state, Policy(methods=["fafi"]), "cpu")
    with pytest.raises(EngineError, match="machine b: method: 'fedavg' is not allowed here"):
        engine_of("engine.patience=60")


def test_a_machine_that_refuses_at_work_costs_its_clients(wire):
    engine, tasks = engine_of()
    wire.machines_[1].policy = Policy(most_megabytes=1e-6)
    failed = [result for result in engine.map(tasks) if isinstance(result, ClientFailure)]
    assert [(result.client, result.kind) for result in failed] == [(1, "refused"), (4, "refused")]


def test_while_it_waits_it_says_who_is_there_and_what_is_missing(wire, monkeypatch):
    monkeypatch.setattr(notices, "QUIET_SECONDS", 0.0)
    wire.away = {"b"}
    heard: list[str] = []
    with notices.NOTICES.shown_by(heard.append), pytest.raises(EngineError, match="no machine holds clients 1, 4"):
        engine_of()
    assert "waiting for machines: 2 joined (a, c), 2 of 5 clients have none yet; 0 of 0.3 s" in heard
