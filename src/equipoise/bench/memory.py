"""Peak memory of a run with 100 000 clients against one with 1 000; 100 clients train in each round."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from equipoise.bench.measure import BenchmarkResult, Goal, paired

FEW, MANY, COHORT = 1_000, 100_000, 100
PEAK = (
    "import resource, sys; from equipoise.cli import app; app(sys.argv[1:], standalone_mode=False);"
    "print('peak', open('/proc/self/status').read().split('VmHWM:')[1].split()[0],"
    " resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
)
"""Prints the peak of this process as Linux counts it, and the largest peak of its children. `getrusage` is not used for
the process itself: there it inherits the peak of its parent."""


def run(repeats: int) -> Iterator[BenchmarkResult]:
    require_linux()
    many, few = zip(*((peak(crowd(MANY)), peak(crowd(FEW))) for _ in range(repeats)), strict=True)
    what = f"{MANY} clients, {COHORT} in each round, against {FEW}"
    yield paired("memory", what, (many, few), Goal("at most", 1.05), unit="MiB")


def crowd(clients: int) -> list[str]:
    settings = ["data=digits", "model=mlp", "rounds=3", "partition=drawn", f"partition.clients={clients}"]
    return ["run", "fedavg", *settings, f"server.fraction={COHORT / clients}"]


def require_linux() -> None:
    if not Path("/proc/self/status").exists():
        raise LookupError("the peak of a process is read from /proc, which only Linux has")


def peak(command: Sequence[str], workers: int = 0) -> float:
    """Peak MiB of a command, plus that of `workers` workers as large as its largest."""
    with tempfile.TemporaryDirectory() as folder:
        given = [*command, "--store", str(Path(folder) / "runs.db")]
        done = subprocess.run([sys.executable, "-c", PEAK, *given], check=True, capture_output=True, text=True)
    own, worker = (float(number) for number in done.stderr.rsplit("peak ", 1)[1].split())
    return (own + workers * worker) / 1024
