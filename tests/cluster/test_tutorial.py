"""docs/tutorials/a-cluster.md, word by word: two machines of `ray start`, one of which is taken away during a run."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.engine.flower.children import free_port
from tests.commands import PATIENCE, command, environment
from tests.docs.test_tutorials import shown_only


class Desk:
    """A working folder, a home with the cluster's token, and terminals. The cluster has a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, str(free_port())
        self.variables = {"HOME": str(folder), "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": "/tmp"}
        self.staying: list[subprocess.Popen[bytes]] = []

    def start(self, line: str, *more: str) -> subprocess.Popen[bytes]:
        """What a line of the page starts."""
        words = shlex.split(line.replace("6379", self.port))
        given = dict(word.split("=", 1) for word in words if word.startswith("RAY_"))
        program, *arguments = [word for word in words if word not in {f"{key}={value}" for key, value in given.items()}]
        kept = {key: value for key, value in environment(**self.variables, **given).items() if key != "RAY_ADDRESS"}
        started = (
            command(*arguments) if program == "equipoise" else [str(Path(sys.executable).parent / program), *arguments]
        )
        with self.log(line).open("wb") as log:
            return subprocess.Popen([*started, *more], cwd=self.folder, env=kept, stdout=log, stderr=log)

    def log(self, line: str) -> Path:
        return self.folder / f"{abs(hash(line))}.log"

    def done(self, line: str, *more: str) -> str:
        """What a line prints that ends by itself."""
        code = self.start(line, *more).wait(PATIENCE)
        said = self.log(line).read_text(encoding="utf-8")
        assert code == 0, f"{line}\n{said}"
        return said

    def until(self, text: str, line: str, process: subprocess.Popen[bytes]) -> None:
        """Wait until a running line has said that."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.log(line).read_text(encoding="utf-8"):
            assert process.poll() is None, self.log(line).read_text(encoding="utf-8")
            assert time.monotonic() < deadline, f"{line} does not say {text}"
            time.sleep(0.2)

    def machine(self, line: str) -> None:
        process = self.start(line)
        self.staying.append(process)
        self.until("--block", line, process)

    def leave(self) -> None:
        """Ctrl-C in the terminal of the machine that came last."""
        process = self.staying.pop()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path)
    yield found
    while found.staying:
        found.leave()


def test_every_command_works_in_order(desk: Desk) -> None:
    token, head, second, short, long, show, sweep = shown_only("a-cluster.md")
    desk.done(token)
    assert (desk.folder / ".ray" / "auth_token").is_file()
    desk.machine(head)
    desk.machine(second)
    there = desk.done(short)
    assert "round 3/3" in there
    running = desk.start(long)
    desk.until("round 4/60", long, running)
    desk.leave()
    assert running.wait(PATIENCE) == 0, desk.log(long).read_text(encoding="utf-8")
    assert "machine-lost" in desk.done(show)
    lost = json.loads(desk.done(show, "--json"))
    assert lost["curve"]["values"] == curve(desk, "rounds=60")
    assert "4/4" in desk.done(sweep)


def curve(desk: Desk, rounds: str) -> list[float]:
    """The accuracies of the same run without a cluster."""
    done = subprocess.run(
        command("run", "fedavg", rounds, "--json", "--store", "alone.db"), cwd=desk.folder, env=dict(os.environ),
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout)["curve"]["values"])
