"""Peak memory of a run with 100 000 clients against one with 1 000, a hundred of them in each round."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from equipoise.bench.measure import Goal, Result, paired

FEW, MANY, COHORT = 1_000, 100_000, 100
PEAK = (
    "import sys; from equipoise.cli import app; app(sys.argv[1:], standalone_mode=False);"
    "print('peak', open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)"
)
"""Linux's own mark for this program. What `getrusage` says is taken over from the process that started it, and is never
less than the benchmarks before this one needed."""


def run(repeats: int) -> Iterator[Result]:
    if not Path("/proc/self/status").exists():
        raise LookupError("the peak of a process is read from /proc, which only Linux has")
    many, few = zip(*((peak(MANY), peak(FEW)) for _ in range(repeats)), strict=True)
    what = f"{MANY} clients, {COHORT} in each round, against {FEW}"
    yield paired("memory", what, (many, few), Goal("at most", 1.05), unit="MiB")


def peak(clients: int) -> float:
    """MiB of the whole process."""
    settings = ["data=digits", "model=mlp", "rounds=3", "partition=drawn", f"partition.clients={clients}"]
    with tempfile.TemporaryDirectory() as folder:
        where = ["--store", str(Path(folder) / "runs.db")]
        command = ["run", "fedavg", *settings, f"server.fraction={COHORT / clients}", *where]
        done = subprocess.run([sys.executable, "-c", PEAK, *command], check=True, capture_output=True, text=True)
    return float(done.stderr.rsplit("peak ", 1)[1]) / 1024
