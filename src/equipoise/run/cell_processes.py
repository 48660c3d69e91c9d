"""The processes of this machine in which the cells of a sweep run; and what a sweep asks of any workers.

begin(order) → key        answers() → (key, answer, or how its worker was lost)        close()
"""

from __future__ import annotations

import selectors
from contextlib import suppress
from typing import NamedTuple, Protocol

from equipoise.engine.wire import Child, receive, send


class Answer(NamedTuple):
    """What a worker says of a cell; or, if it was lost, how."""

    key: int
    data: bytes | None
    how: str = ""


class CellWorkers(Protocol):
    retries: int
    """How often a cell whose worker was lost is run again."""

    @property
    def n(self) -> int:
        """How many cells run at a time."""

    def begin(self, order: bytes) -> int: ...

    def answers(self) -> list[Answer]:
        """What has come in; waits for it for a second at most."""

    def close(self) -> None: ...


class CellProcesses:
    retries = 0

    def __init__(self, jobs: int) -> None:
        self.n = jobs
        self._idle: list[Child] = []
        self._busy: dict[int, Child] = {}

    def begin(self, order: bytes) -> int:
        child = self._idle.pop() if self._idle else Child("equipoise.run.cell")
        key = child.socket.fileno()
        self._busy[key] = child
        with suppress(ConnectionError):  # a dead child is noticed when it is waited for
            send(child.socket, order)
        return key

    def answers(self) -> list[Answer]:
        with selectors.DefaultSelector() as selector:
            for number in self._busy:
                selector.register(number, selectors.EVENT_READ)
            ready = [key.fd for key, _ in selector.select(timeout=1.0)]
        return [self._answer(number, self._busy.pop(number)) for number in ready]

    def _answer(self, key: int, child: Child) -> Answer:
        data = receive(child.socket)
        if data is not None:
            self._idle.append(child)
            return Answer(key, data)
        child.kill()
        return Answer(key, None, f"its process died (exit code {child.process.returncode})")

    def close(self) -> None:
        for child in self._busy.values():
            child.process.terminate()
        for child in [*self._idle, *self._busy.values()]:
            child.close()
