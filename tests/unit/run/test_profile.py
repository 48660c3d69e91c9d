from __future__ import annotations

import pytest

from equipoise.core import machine
from equipoise.run import profile
from equipoise.run.profile import advice, parts
from tests.conftest import tiny

TRAINING = {"data": 1.0, "forward": 4.0, "backward": 4.0, "optimiser": 1.0}


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(profile, "cores", lambda: 2)
    assert machine.cores() >= 1


def first(seconds, *settings: str, clients: int = 5) -> str:
    return next(iter(advice(seconds, tiny(*settings), clients)), "")


def test_parts_in_their_order_the_workers_beside():
    found = parts({"evaluate": 1.0, "idle": 3.0, "workers/forward": 4.0, "workers/idle": 0.5})
    assert [(part.name, part.server, part.workers) for part in found] == [
        ("forward", 0.0, 4.0), ("idle", 3.0, 0.5), ("evaluate", 1.0, 0.0)
    ]  # fmt: skip


def test_clients_on_one_of_several_cores():
    assert first({**TRAINING, "evaluate": 1.0}).startswith("engine=processes")
    assert first({**TRAINING, "evaluate": 1.0}, clients=1).startswith("engine.threads=2")


def test_what_takes_most_comes_first():
    assert first({**TRAINING, "evaluate": 30.0}).startswith("evaluate.every=2")
    assert first({**TRAINING, "store": 30.0}).startswith("fewer checkpoints")
    assert first({"start": 30.0, **TRAINING}).startswith("more rounds")


def test_idle_workers_and_slow_batches():
    work = {"idle": 10.0, "merge": 1.0, "workers/forward": 5.0}
    assert "engine.workers" in first({**work, "workers/idle": 10.0}, "engine=processes")
    assert first({**work, "workers/data": 10.0}, "engine=processes").startswith("client.augment=none")


def test_nothing_to_say_where_nothing_helps():
    assert first({"idle": 10.0, "merge": 1.0, "workers/forward": 20.0}, "engine=processes") == ""
