from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from equipoise.engine import wire
from equipoise.engine.wire import Child, receive, send

ECHO = """
from equipoise.engine.wire import join_parent, receive, send
parent = join_parent()
while (message := receive(parent)) is not None:
    send(parent, message.upper())
"""
DEAF = """
import signal
from equipoise.engine.wire import join_parent, send
send(join_parent(), b"here")
while True:
    signal.pause()
"""
ORPHAN = """
import os
from equipoise.engine.wire import Child, receive, send
child = Child("echo_child")
send(child.socket, b"hello")
assert receive(child.socket) == b"HELLO"
print(child.process.pid, flush=True)
os._exit(0)
"""


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Modules that a child can be started with."""
    for name, text in (("echo_child", ECHO), ("deaf_child", DEAF)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("message", [b"", b"x", b"\0" * 1000, "größe".encode()])
def test_a_frame_comes_back(pair, message):
    send(pair[0], message)
    send(pair[0], b"next")
    assert receive(pair[1]) == message
    assert receive(pair[1]) == b"next"


def test_a_frame_is_eight_bytes_of_length_and_the_message(pair):
    send(pair[0], b"abc")
    assert pair[1].recv(100) == (3).to_bytes(8, "little") + b"abc"


@pytest.mark.parametrize("part", [b"", b"\x05\0", (5).to_bytes(8, "little"), (5).to_bytes(8, "little") + b"ab"])
def test_the_other_side_gone_even_in_the_middle_of_a_frame_is_nothing(pair, part):
    pair[0].sendall(part)
    pair[0].close()
    assert receive(pair[1]) is None


def test_a_connection_that_was_reset_is_nothing(pair):
    pair[1].sendall(b"never read")
    pair[0].close()
    assert receive(pair[1]) is None


def test_a_side_that_is_silent_for_too_long_is_nothing(pair):
    pair[1].settimeout(0.01)
    pair[0].sendall((5).to_bytes(8, "little") + b"ab")
    assert receive(pair[1]) is None


def test_a_child_answers_and_leaves_when_it_is_told(modules, monkeypatch):
    monkeypatch.setattr(wire, "GRACE", 600.0)
    child = Child("echo_child")
    send(child.socket, b"hello")
    assert receive(child.socket) == b"HELLO"
    child.process.send_signal(signal.SIGINT)  # Ctrl-C is the parent's to handle
    send(child.socket, b"still there")
    assert receive(child.socket) == b"STILL THERE"
    child.close()
    assert child.process.returncode == 0


def test_a_child_that_does_not_leave_is_killed(modules, monkeypatch):
    monkeypatch.setattr(wire, "GRACE", 0.05)
    child = Child("deaf_child")
    assert receive(child.socket) == b"here"
    child.close()
    assert child.process.returncode == -signal.SIGKILL


def test_a_killed_child_is_gone_and_its_answer_is_nothing(modules):
    child = Child("echo_child")
    child.process.kill()
    assert receive(child.socket) is None
    child.kill()
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_dies_with_its_parent(modules):
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, check=True)
    try:
        orphan = os.pidfd_open(int(done.stdout))
    except ProcessLookupError:
        return  # gone already
    poll = select.poll()
    poll.register(orphan, select.POLLIN)
    assert poll.poll(30_000), "the child outlived its parent"
    os.close(orphan)


def test_one_thread_per_child_unless_told_otherwise(modules, monkeypatch):
    (modules / "threads_child.py").write_text(
        "import os\nfrom equipoise.engine.wire import join_parent, send\n"
        "send(join_parent(), os.environ['OMP_NUM_THREADS'].encode())\n"
    )
    for given, seen in ((None, b"1"), ("3", b"3")):
        if given is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", given)
        child = Child("threads_child")
        assert receive(child.socket) == seen
        child.close()
