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

STEPS = 150
"""Enough that most of the process's life is training and committing."""
SETTINGS = {
    "fedprox": [f"rounds={STEPS}", "client.epochs=1"],
    "one-shot/fedprox": [f"checkpoints={STEPS}", f"client.epochs={STEPS}"],
}
SMALL = ["data.limit=200", "model=mlp", "partition.clients=4"]
KINDS = [(preset, engine) for preset in SETTINGS for engine in ("local", "processes")]


def command(store: Path, preset: str, engine: str) -> list[str]:
    settings = [*SETTINGS[preset], *SMALL, f"engine={engine}"]
    return [sys.executable, "-m", "equipoise", "run", preset, *settings, "--store", str(store)]


def finished(store: Path, arguments: list[str]) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments[3:])} ended with {done.returncode}:\n{done.stderr}")


def recorded(store: Path) -> tuple[list[Row], object, object]:
    """Of the one run in the store: every number but clock readings, who took part, and who owned what."""
    with open_store(store) as opened:
        (run,) = read.runs(opened)
        assert run.status == "done", run.status
        rows = [row for row in read.rows(opened, run.run_id) if row.name != "seconds"]
        return rows, read.clients(opened, run.run_id), read.partition(opened, str(run.partition))


def killed_after(delay: float, store: Path, kind: tuple[str, str]) -> int | None:
    """Start a run, kill it after `delay` seconds; how many steps it had committed, or None if it has no row yet."""
    process = subprocess.Popen(command(store, *kind), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    process.kill()
    process.wait()
    with open_store(store) as opened:
        runs = read.runs(opened)
        return len({row.step for row in read.rows(opened, runs[0].run_id)}) if runs else None


def trial(delay: float, folder: Path, kind: tuple[str, str]) -> tuple[int | None, object]:
    store = folder / "equipoise.db"
    steps = killed_after(delay, store, kind)
    if steps is None:
        finished(store, command(store, *kind))
    else:
        finished(store, [sys.executable, "-m", "equipoise", "resume", "latest", "--store", str(store)])
    return steps, recorded(store)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        expected, differing, lifetime = {}, 0, 0.0
        for preset in SETTINGS:
            started = time.monotonic()
            whole = Path(folder) / preset / "equipoise.db"
            finished(whole, command(whole, preset, "local"))
            lifetime = max(lifetime, time.monotonic() - started)
            expected[preset] = recorded(whole)
            print(f"{preset} uninterrupted: {len(expected[preset][0])} numbers in {lifetime:.1f} s")
        for number in range(options.times):
            delay, kind = draw.uniform(0, lifetime), KINDS[number % len(KINDS)]
            steps, found = trial(delay, Path(folder) / str(number), kind)
            is_equal = found == expected[kind[0]]
            differing += not is_equal
            at = "before the run was recorded" if steps is None else f"after {steps} of {STEPS} steps"
            how = "equal" if is_equal else "DIFFERENT"
            print(f"{number + 1:3}. {' '.join(kind)} killed at {delay:.2f} s, {at}: {how}", flush=True)
    print(f"{options.times - differing} of {options.times} resumed runs are equal to the last bit")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
