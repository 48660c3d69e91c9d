"""docs/howto/three-machines.md, word by word: its commands in order, on ports that are free."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equipoise.engine.flower.children import free_port

pytestmark = pytest.mark.flower
PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "three-machines.md"
READY = {"federation serve": "machines connect to", "join": "waiting for work"}


def commands() -> list[str]:
    """The commands of the page up to the section on what happens when something dies."""
    text = PAGE.read_text(encoding="utf-8").partition("## What happens")[0]
    lines = [line for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    return [line.removeprefix("equipoise ") for line in lines if line.startswith("equipoise ")]


def test_the_page_has_the_commands_of_a_first_try():
    kinds = [line.split(" -")[0].split(" engine")[0] for line in commands()]
    assert [kind.split()[0] for kind in kinds] == ["federation"] * 3 + ["join"] * 3 + ["federation", "run"]


class Terminals:
    """Commands that end, and commands that stay, in one working folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"OMP_NUM_THREADS": "1", "EQUIPOISE_STORE": str(folder / "runs.db")}
        self.staying: list[subprocess.Popen[bytes]] = []

    def run(self, *given: str) -> str:
        command = [sys.executable, "-m", "equipoise", *given]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{given}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def stay(self, until: str, *given: str) -> None:
        log = self.folder / f"{len(self.staying)}.log"
        command = [sys.executable, "-m", "equipoise", *given]
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=output, stderr=output)
        self.staying.append(process)
        deadline = time.monotonic() + 90
        while until not in log.read_text():
            assert process.poll() is None, f"{given}\n{log.read_text()}"
            assert time.monotonic() < deadline, f"{given}\n{log.read_text()}"
            time.sleep(0.2)

    def close(self) -> None:
        for process in reversed(self.staying):
            process.send_signal(signal.SIGINT)
        for process in self.staying:
            process.wait(30)


def test_every_command_works_in_order(tmp_path):
    ports = {"9092": str(free_port()), "9093": str(free_port())}
    driver = ["--driver-port", ports["9093"]]
    more = {"federation serve": ["--port", ports["9092"], *driver], "federation status": driver}
    terminals, printed = Terminals(tmp_path), ""
    try:
        for line in commands():
            given = [re.sub("909[23]", lambda found: ports[found.group()], word) for word in line.split()]
            given += next((words for start, words in more.items() if line.startswith(start)), [])
            waits = next((text for start, text in READY.items() if line.startswith(start)), None)
            if waits is None:
                printed += terminals.run(*given)
            else:
                terminals.stay(waits, *given)
    finally:
        terminals.close()
    assert "online" in printed
    assert "a share, 2 clients" in printed
    assert "round 3/3" in printed
