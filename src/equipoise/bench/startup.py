"""From the command to the first finished round on digits, beside importing torch, which is most of it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from equipoise.bench.measure import Goal, Result, by_turns, compared

SECONDS = 4.0


def run(repeats: int) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        run_one = ["-m", "equipoise", "run", "fedavg", "rounds=1", "--store", str(Path(folder) / "runs.db")]
        mine, torch = by_turns([lambda: _python(run_one), lambda: _python(["-c", "import torch"])], repeats)
    goal = Goal("at most", SECONDS / torch.median)
    note = f"the goal is {SECONDS:g} s: that many times the import"
    yield compared("startup", "equipoise run fedavg rounds=1, against importing torch", mine, torch, goal, note=note)


def _python(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True).returncode
