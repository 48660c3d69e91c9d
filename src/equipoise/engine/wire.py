"""Frames over a socket between a parent and its child processes: eight bytes of length, then the message.

Messages are codec bytes or JSON; nothing on this wire is ever unpickled.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

GRACE = 5.0
"""Seconds that a child has to exit before it is killed."""


def send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(8, "little"))
    connection.sendall(data)


def receive(connection: socket.socket) -> bytes | None:
    """The next frame; None if the other side is gone or silent, even in the middle of a frame."""
    size = _exactly(connection, 8)
    return None if size is None else _exactly(connection, int.from_bytes(size, "little"))


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        try:
            count = connection.recv_into(view[done:])
        except (ConnectionError, TimeoutError):
            return None
        if count == 0:
            return None
        done += count
    return bytes(data)


class Child:
    """A process running `python -m module`, with a socket to talk over. It dies with its parent."""

    def __init__(self, module: str, pass_fds: Sequence[int] = ()) -> None:
        self.socket, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", module, str(theirs.fileno())]
        environment = os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        self.process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(), *pass_fds),
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # the parent handles Ctrl-C
        )
        theirs.close()

    def close(self) -> None:
        self.socket.close()
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.close()


def join_parent() -> socket.socket:
    """The child's end of the socket. The parent handles Ctrl-C; if the parent vanishes, the child exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    return socket.socket(fileno=int(sys.argv[1]))
