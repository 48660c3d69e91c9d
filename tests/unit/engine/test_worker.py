"""The worker's loop, run here over a socket pair; `test_processes` runs it as a process."""

from __future__ import annotations

import os
import socket

import pytest

from equipoise.core.errors import ClientError
from equipoise.core.values import ClientUpdate
from equipoise.engine import worker
from equipoise.engine.messages import results_from, tasks_bytes
from equipoise.engine.shared import share
from equipoise.engine.wire import receive, send
from tests.conftest import assert_same_update

from .conftest import BAD_CLIENT, a_site, tasks_of


@pytest.fixture
def parent(monkeypatch):
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(worker, "join_parent", lambda: theirs)
    yield ours
    ours.close()
    theirs.close()


def test_one_task_after_another_until_the_parent_is_gone(parent, expected):
    site = a_site("engine=processes")
    descriptor, message = share(site)
    send(parent, message)
    for task in tasks_of(site, (1, BAD_CLIENT, 0)):
        send(parent, tasks_bytes([task]))
    parent.shutdown(socket.SHUT_WR)
    worker.main()
    os.close(descriptor)
    first, second, third = (receive(parent) for _ in range(3))
    for answer, client in ((first, 1), (third, 0)):
        assert answer is not None
        result = results_from(answer)[0]
        assert isinstance(result, ClientUpdate)
        assert_same_update(result, expected[client])
    assert second is not None
    with pytest.raises(ClientError, match="client 3 failed"):
        results_from(second)[0]


def test_a_parent_that_says_nothing(parent):
    parent.shutdown(socket.SHUT_WR)
    worker.main()
    with pytest.raises(BlockingIOError):
        parent.recv(1, socket.MSG_DONTWAIT)
