"""Flower's own programs as child processes that end with us: the server (SuperLink), and a machine's node (SuperNode).

python -m equipoise.engine.flower.children superlink|supernode PARENT …
"""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PROGRAMS = {
    "superlink": "flwr.superlink.cli.flower_superlink:flower_superlink",
    "supernode": "flwr.supernode.cli.flower_supernode:flower_supernode",
}
QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
BEAT_SECONDS = 10
"""The least that Flower allows."""
GRACE = 10.0
"""Seconds that a program has to end before it is killed."""


def start(program: str, arguments: Sequence[str], log: Path, home: Path, poll: float = 3.0) -> subprocess.Popen[bytes]:
    """The program in the background; it writes to a log, and keeps its files in `home`."""
    command = [sys.executable, "-P", "-m", __name__, program, str(os.getpid()), str(poll), *arguments]
    environment = os.environ | QUIET | {"FLWR_HOME": str(home)}
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,  # the parent handles Ctrl-C
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def is_listening(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as tried:
        tried.settimeout(1.0)
        return tried.connect_ex((host, port)) == 0


def last_words(log: Path, n: int = 5) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(line for line in lines[-n:] if line.strip())


def end_with(parent: int) -> None:
    """End this process when its parent is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def never_sleep_longer(module: Any, poll: float) -> None:
    """Let a module's `time.sleep` sleep for `poll` seconds at most."""
    module.time = SimpleNamespace(**{**vars(time), "sleep": lambda seconds: time.sleep(min(seconds, poll))})


def main() -> None:
    _, program, parent, poll, *arguments = sys.argv
    end_with(int(parent))
    if program == "supernode":
        constants: Any = importlib.import_module("flwr.common.constant")
        constants.HEARTBEAT_DEFAULT_INTERVAL = BEAT_SECONDS  # before others read it
        never_sleep_longer(importlib.import_module("flwr.supernode.start_client_internal"), float(poll))
    module, _, name = PROGRAMS[program].partition(":")
    sys.argv = [f"flower-{program}", *arguments]
    getattr(importlib.import_module(module), name)()


if __name__ == "__main__":
    main()
