"""Kill a run with SIGKILL at a random instant, resume it, and compare every number to the last bit; many times.

    python scripts/kill_test.py --times 20

The instants cover the whole life of the process: imports, the making of the database, training, commits, the end.
Only `seconds`, which is a clock reading, is left out of the comparison.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from equipoise.core.values import Row
from equipoise.store import read
from equipoise.store.database import open_store

SETTINGS = ["rounds=30", "data.limit=200", "model=mlp", "client.epochs=1", "partition.clients=4"]


def command(store: Path, engine: str) -> list[str]:
    return [sys.executable, "-m", "equipoise", "run", "fedprox", *SETTINGS, f"engine={engine}", "--store", str(store)]


def finished(store: Path, arguments: list[str]) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments[3:])} ended with {done.returncode}:\n{done.stderr}")


def numbers(store: Path) -> list[Row]:
    """Every recorded number of the one run in the store, but clock readings."""
    with open_store(store) as opened:
        (run,) = read.runs(opened)
        assert run.status == "done", run.status
        return [row for row in read.rows(opened, run.run_id) if row.name != "seconds"]


def killed_after(delay: float, store: Path, engine: str) -> int | None:
    """Start a run, kill it after `delay` seconds; how many steps it had committed, or None if it has no row yet."""
    process = subprocess.Popen(command(store, engine), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    process.kill()
    process.wait()
    with open_store(store) as opened:
        runs = read.runs(opened)
        return len({row.step for row in read.rows(opened, runs[0].run_id)}) if runs else None


def trial(delay: float, folder: Path, engine: str) -> tuple[int | None, list[Row]]:
    store = folder / "equipoise.db"
    steps = killed_after(delay, store, engine)
    if steps is None:
        finished(store, command(store, engine))
    else:
        finished(store, [sys.executable, "-m", "equipoise", "resume", "latest", "--store", str(store)])
    return steps, numbers(store)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        whole = Path(folder) / "whole" / "equipoise.db"
        finished(whole, command(whole, "local"))
        lifetime = time.monotonic() - started
        expected = numbers(whole)
        print(f"uninterrupted: {len(expected)} numbers in {lifetime:.1f} s")
        differing = 0
        for number in range(options.times):
            delay, engine = draw.uniform(0, lifetime), ("local", "processes")[number % 2]
            steps, found = trial(delay, Path(folder) / str(number), engine)
            is_equal = found == expected
            differing += not is_equal
            at = "before the run was recorded" if steps is None else f"after {steps} of 30 steps"
            print(f"{number + 1:3}. {engine:9} killed at {delay:5.2f} s, {at}: {'equal' if is_equal else 'DIFFERENT'}")
    print(f"{options.times - differing} of {options.times} resumed runs are equal to the last bit")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
