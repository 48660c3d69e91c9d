"""A federation on this machine: the server and its machines as processes, on ports that are free."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from equipoise.core.errors import EngineError
from equipoise.engine.flower.authority import make_federation
from equipoise.engine.flower.children import free_port, is_listening, last_words

START_SECONDS = 90.0
JOIN_POLL = 0.1
"""Seconds between two questions for work."""
READY = "waiting for work"
"""What a machine says when it is connected."""


class Machines:
    """`prefixes` are commands in which the processes of a machine run, such as those of a network namespace."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        host: str = "127.0.0.1",
        prefixes: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.folder, self.host, self.prefixes = folder, host, prefixes or {}
        self.port, self.driver_port = free_port(), free_port()
        make_federation(folder, names, [host])
        self.server: subprocess.Popen[bytes] | None = None
        self.joined: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def settings(self) -> list[str]:
        """What a run needs to be driven over these machines."""
        return [
            "engine=flower",
            f"engine.address=127.0.0.1:{self.driver_port}",
            f"engine.certificate={self.folder / 'ca.crt'}",
        ]

    def serve(self) -> None:
        ports = ["--port", str(self.port), "--driver-port", str(self.driver_port)]
        self.server = self._start("server", ["federation", "serve", str(self.folder), "--host", self.host, *ports])
        self._wait(lambda: is_listening(self.port, self.host), self.server, "server")

    def join(self, name: str, data: Path | None, *options: str, key: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a machine; `ready` waits until it is connected."""
        given = ["--certificate", str(self.folder / "ca.crt"), "--key", str(key or self.folder / "keys" / name)]
        given += ["--state", str(self.folder / f"{name}.state"), "--poll", str(JOIN_POLL), "--device", "cpu"]
        given += [] if data is None else ["--data", str(data)]
        command = ["join", "--server", f"{self.host}:{self.port}", *given, *options]
        self.joined[name] = self._start(name, command, self.prefixes.get(name, ()))
        return self.joined[name]

    def ready(self, name: str) -> None:
        self._wait(lambda: READY in self.said(name), self.joined[name], name)

    def said(self, name: str) -> str:
        """What a process printed so far."""
        return self._log(name).read_text(encoding="utf-8", errors="replace")

    def kill(self, name: str) -> None:
        """SIGKILL for a machine and its SuperNode, or for the server and its SuperLink, at once."""
        process = self.server if name == "server" else self.joined.pop(name)
        assert process is not None
        for pid in [*children_of(process.pid), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in [*self.joined.values(), *([self.server] if self.server is not None else [])]:
            process.send_signal(signal.SIGINT)
        for process in [*self.joined.values(), *([self.server] if self.server is not None else [])]:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.joined, self.server = {}, None

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _start(self, name: str, command: Sequence[str], prefix: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        with self._log(name).open("wb") as log:
            return subprocess.Popen(
                [*prefix, sys.executable, "-m", "equipoise", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def _wait(self, is_there: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
        until = time.monotonic() + START_SECONDS
        while not is_there():
            if process.poll() is not None or time.monotonic() > until:
                what = f"{name} does not start: {last_words(self._log(name), 20)}"
                raise EngineError(what, where=str(self._log(name)))
            time.sleep(0.1)


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    own = [int(text) for text in found.stdout.split()]
    return [*own, *(each for child in own for each in children_of(child))]
