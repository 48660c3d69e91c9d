"""From the command to the first finished round on digits, beside importing torch, which is most of it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from equipoise.bench.measure import Goal, Result, by_turns, compared

SECONDS = 4.0
FIRST = "round 1/"
"""How the line of the first finished round begins."""


def run(repeats: int) -> Iterator[Result]:
    mine, torch = by_turns([first_round, import_torch], repeats, lambda _: 0.0)
    goal = Goal("at most", SECONDS / torch.median)
    what = "equipoise run fedavg up to its first finished round, against importing torch"
    note = f"the goal is {SECONDS:g} s: so many times the import"
    yield compared("startup", what, mine, torch, goal, note=note, figures=None)


def first_round() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "equipoise", "run", "fedavg", "--store", str(Path(folder) / "runs.db")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            next(line for line in process.stderr if line.startswith(FIRST))
            process.kill()


def import_torch() -> None:
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
