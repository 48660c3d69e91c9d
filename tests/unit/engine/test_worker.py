"""The worker's loop, run here over a socket pair; `test_processes` runs it as a process."""

from __future__ import annotations

import json
import os
import socket
import threading

import pytest

from equipoise.core.errors import ClientError
from equipoise.core.pulse import SIZE, Pulse
from equipoise.core.values import ClientUpdate, Result, Task
from equipoise.engine import worker
from equipoise.engine.messages import results_of, tasks_message
from equipoise.engine.shared import share
from equipoise.engine.slab import Slab, anonymous_file
from equipoise.engine.wire import receive, send
from tests.conftest import assert_same_update

from .conftest import BAD_CLIENT, a_site, tasks_of


@pytest.fixture
def parent(monkeypatch):
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(worker, "join_parent", lambda: theirs)
    monkeypatch.setattr(worker, "PULSE", Pulse())
    yield ours
    ours.close()
    theirs.close()


def test_one_task_after_another_until_the_parent_is_gone(parent, expected):
    site = a_site("engine=processes")
    descriptor, message = share(site)
    common, own = Slab(anonymous_file(0)), Slab(anonymous_file(0))
    send(parent, message)
    pulse = anonymous_file(0)
    os.ftruncate(pulse, SIZE)
    send(parent, json.dumps([common.descriptor, own.descriptor, pulse, False, "cpu"]).encode())
    first, bad, last = tasks_of(site, (1, BAD_CLIENT, 0))  # drawn before the worker draws: a process has one generator
    loop = threading.Thread(target=worker.main)
    loop.start()

    def ask(task: Task) -> Result:
        """The slab is one's at a time: it is written again when the answer is there."""
        header, tensors = tasks_message([task])
        send(parent, json.dumps([header, common.write(task.shared), own.write(tensors)]).encode())
        where, answer = receive(parent), receive(parent)
        assert where is not None
        assert answer is not None
        (places, laps), header = json.loads(where), json.loads(answer)
        assert laps == {}
        (result,) = results_of((header, own.read(places)))
        return result

    for task, client in ((first, 1), (last, 0)):
        result = ask(task)
        assert isinstance(result, ClientUpdate)
        assert_same_update(result, expected[client])
        with pytest.raises(ClientError, match="client 3 failed"):
            ask(bad)
    parent.shutdown(socket.SHUT_WR)
    loop.join()
    os.close(descriptor)
    os.close(pulse)


def test_a_parent_that_says_nothing(parent):
    parent.shutdown(socket.SHUT_WR)
    worker.main()
    with pytest.raises(BlockingIOError):
        parent.recv(1, socket.MSG_DONTWAIT)
