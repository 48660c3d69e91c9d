"""A cell's loop, run here over a socket pair; `test_sweep` runs it as a process."""

from __future__ import annotations

import json
import signal
import socket

import pytest

from equipoise.config.loader import Request
from equipoise.engine.wire import receive, send
from equipoise.run import cell
from equipoise.run.cell import run_cell
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import read
from tests.conftest import one_shot, tiny

from .conftest import Breaks

CONFIG = tiny("rounds=2")


@pytest.fixture
def order(location, store):
    about = {"store": location, "sweep": "a-sweep", "cell": "a cell", "config": CONFIG.model_dump()}
    return {**about, "run_id": None, "clients_of": None, "data_path": None}


def test_a_cell_is_run(order, store):
    answer = run_cell(order)
    run = read.find_run(store, answer["run_id"])
    assert (run.status, run.sweep, run.cell) == ("done", "a-sweep", "a cell")
    assert answer == {
        "state": "done",
        "run_id": run.run_id,
        "error": None,
        "value": read.final_metrics(store, run.run_id)["accuracy/merged"],
    }


def test_a_cell_that_was_begun_goes_on(order, store):
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(CONFIG, None), Breaks(KeyboardInterrupt(), 0))
    run_id = read.find_run(store, "latest").run_id
    assert run_cell({**order, "run_id": run_id})["state"] == "done"
    assert [run.run_id for run in read.runs(store)] == [run_id]
    assert read.find_run(store, run_id).status == "done"


def test_a_cell_whose_clients_are_trained_already_trains_nobody(order, store, monkeypatch):
    source = start(store, Request(one_shot(), None), Nobody())
    monkeypatch.setattr(cell, "start", None)
    other = one_shot("server.predict=logit-ensemble")
    answer = run_cell({**order, "config": other.model_dump(), "clients_of": source})
    assert (answer["state"], answer["error"]) == ("done", None)
    run = read.find_run(store, answer["run_id"])
    assert (run.status, run.sweep, run.cell) == ("done", "a-sweep", "a cell")
    assert run.config_hash == other.fingerprint()
    assert answer["value"] == read.final_metrics(store, source)["accuracy/merged/logit-ensemble"]


def test_a_cell_that_fails_says_why(order):
    wrong = tiny("rounds=2", "client.lr=1e30").model_dump()
    answer = run_cell({**order, "config": wrong})
    assert answer["state"] == "failed"
    assert "loss/base is" in answer["error"]


def test_whatever_else_goes_wrong_is_an_answer_too(order, monkeypatch):
    def surprise(*_):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(cell, "start", surprise)
    answer = run_cell(order)
    assert (answer["state"], answer["error"]) == ("failed", "ZeroDivisionError: of all things")


def test_a_folder_that_is_not_there(order, tmp_path):
    config = tiny("data=svhn").model_dump()
    answer = run_cell({**order, "config": config, "data_path": str(tmp_path / "nowhere")})
    assert answer["state"] == "failed"
    assert "the files of 'svhn' were not found" in answer["error"]


@pytest.fixture
def parent(monkeypatch):
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(cell, "join_parent", lambda: theirs)
    before = signal.getsignal(signal.SIGTERM)
    yield ours
    signal.signal(signal.SIGTERM, before)
    ours.close()
    theirs.close()


def test_one_order_after_another_until_the_parent_is_gone(parent, order):
    for _ in range(2):
        send(parent, json.dumps(order).encode())
    parent.shutdown(socket.SHUT_WR)
    cell.main()
    for _ in range(2):
        answer = receive(parent)
        assert answer is not None
        assert json.loads(answer)["state"] == "done"


def test_a_cell_that_is_told_to_stop_leaves_quietly(parent, order, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cell, "run_cell", interrupted)
    send(parent, json.dumps(order).encode())
    cell.main()
    with pytest.raises(BlockingIOError):
        parent.recv(1, socket.MSG_DONTWAIT)
