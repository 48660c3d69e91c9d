"""Time from the command to the first finished round on digits, against importing torch, which is most of it.

Also with 100 000 clients of which 100 train, and from a command with a wrong key to its error message.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared

MANY = ["model=mlp", "partition=drawn", "partition.clients=100000", "server.fraction=0.001"]
KINDS: dict[str, tuple[list[str], float]] = {"startup": ([], 4.0), "startup/100000": (MANY, 10.0)}
"""Settings, and the goal in seconds."""
WRONG_KEY = 1.0
"""Goal for a wrong request, in seconds."""
FIRST = "round 1/"
"""Beginning of the line that reports the first finished round."""


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for name, (settings, seconds) in KINDS.items():
        mine, torch = by_turns([partial(first_round, settings), import_torch], repeats, lambda _: 0.0)
        goal = Goal("at most", seconds / torch.median)
        what = (
            f"equipoise run {' '.join(['fedavg', *settings])} up to its first finished round, against importing torch"
        )
        note = f"the goal is {seconds:g} s: so many times the import"
        yield compared(name, what, mine, torch, goal, note=note, figures=None)

    mine, torch = by_turns([refused, import_torch], repeats, lambda _: 0.0)
    goal, note = Goal("at most", WRONG_KEY / torch.median), "settings are checked without torch"
    what = "equipoise run fedavg client.epoch=2 up to its error, against importing torch"
    yield compared("startup/wrong-key", what, mine, torch, goal, note=note, figures=None)


def refused() -> None:
    command = [sys.executable, "-m", "equipoise", "run", "fedavg", "client.epoch=2"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def first_round(settings: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = ["run", "fedavg", *settings, "--store", str(Path(folder) / "runs.db")]
        command = [sys.executable, "-m", "equipoise", *asked]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            next(line for line in process.stderr if line.startswith(FIRST))
            process.kill()


def import_torch() -> None:
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
