"""What a round over real machines costs beside the training: by their number, and by what they send.

    seconds(n machines, m MB each way) ≈ a + b·n + c·n·m        a, b, c by least squares over what was measured

Machines are processes on this computer, with TLS, keys and the proxy, so b and c contain its processor time for both
sides. `ours` are the seconds of a round with n machines, `theirs` with one; training takes next to nothing.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.bench.machines import JOIN_POLL, Machines, children_of
from equipoise.bench.measure import BenchmarkResult, Goal
from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.core.values import n_bytes
from equipoise.engine.flower.share import dealt, write_share
from equipoise.run.advance import plan
from equipoise.run.build import build, make_engine
from equipoise.run.loop import first_snapshot

MOST = 8
WATCHED_SECONDS = 15.0
SIZES = {"0 MB": 1, "1 MB": 1_232, "50 MB": 61_600}
"""Hidden units of a perceptron on digits, some 812 bytes a unit: what the model weighs."""
NUMBERS = {"0 MB": (1, 2, 4, 8), "1 MB": (1, 2, 4, 8), "50 MB": (1, 2)}
LARGE = (1_000, 100_000)


@dataclass(frozen=True)
class Round:
    n: int
    megabytes: float
    seconds: float


def run(repeats: int) -> Iterator[BenchmarkResult]:
    found: list[Round] = []
    with tempfile.TemporaryDirectory() as place:
        machines = started(Path(place))
        try:
            yield _polling(machines)
            for title, hidden in SIZES.items():
                alone = None
                for n in NUMBERS[title]:
                    one = measured(machines, n, hidden, repeats)
                    found.append(one)
                    alone = alone or one
                    yield _result(title, one, alone)
        finally:
            machines.close()
    yield _fitted(found)


def started(place: Path) -> Machines:
    """The server, and machines that hold a share for every number of clients."""
    names = [f"m{number}" for number in range(MOST)]
    for n in sorted({n for numbers in NUMBERS.values() for n in numbers}):
        site = build(config_of(n, 1)).site
        for name, clients in dealt(n, names[:n]).items():
            write_share(site, clients, place / name / str(n))
    machines = Machines(place / "federation", names)
    machines.serve()
    for name in names:
        machines.join(name, place / name)
    for name in names:
        machines.ready(name)
    return machines


def config_of(n: int, hidden: int, *more: str) -> Config:
    size = ["data.limit=100", "data.test_limit=20", "partition=iid", f"partition.clients={n}", f"model.hidden={hidden}"]
    return load("fedavg", ["model=mlp", "client.epochs=1", "engine.together=1", *size, *more]).config


def measured(machines: Machines, n: int, hidden: int, repeats: int) -> Round:
    """The median of `repeats` rounds, after one that warms up."""
    federation = build(config_of(n, hidden, *machines.settings, "engine.poll=0.05"))
    tasks = plan(federation, first_snapshot(federation), 0)
    engine, seconds = make_engine(federation.site), []
    try:
        for _ in range(repeats + 1):
            began = time.perf_counter()
            assert len(list(engine.map(tasks))) == n
            seconds.append(time.perf_counter() - began)
    finally:
        engine.close()
    return Round(n, n_bytes(federation.start) / 1e6, statistics.median(seconds[1:]))


def fit(found: Sequence[Round]) -> tuple[float, float, float]:
    """a, b and c, none below zero, with the smallest relative errors."""
    from scipy import optimize

    table = np.array([[1.0, one.n, one.n * one.megabytes] for one in found])
    seconds = np.array([one.seconds for one in found])
    relative = table / seconds[:, None]
    found_at: Any = optimize.lsq_linear(relative, np.ones(len(found)), bounds=(0, np.inf))  # type: ignore[operator]
    a, b, c = found_at.x.tolist()
    return a, b, c


def _polling(machines: Machines) -> BenchmarkResult:
    """Processor time that idle machines cost the server by asking for work."""
    assert machines.server is not None
    pids = [machines.server.pid, *children_of(machines.server.pid)]
    before = sum(map(processor_seconds, pids))
    time.sleep(WATCHED_SECONDS)
    used = (sum(map(processor_seconds, pids)) - before) / WATCHED_SECONDS
    note = f"{MOST} idle machines that ask every {JOIN_POLL:g} s use {used:.2f} of a core of the server"
    what = f"processor time of the server for {MOST} idle machines, against one core"
    return BenchmarkResult("scale", what, used, (used, used), used, 1.0, Goal("at most", 1.0), note=note)


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _result(title: str, one: Round, alone: Round) -> BenchmarkResult:
    ratio = one.seconds / alone.seconds
    what = f"a round of {one.n} machines, {title} each way, against one machine"
    note = f"{one.megabytes:.2f} MB each way"
    return BenchmarkResult(
        "scale", what, ratio, (ratio, ratio), one.seconds, alone.seconds, Goal("at most", 1.5 * one.n), note=note
    )


def _fitted(found: Sequence[Round]) -> BenchmarkResult:
    """The model beside what was measured, and what it says of federations that do not fit on this computer."""
    a, b, c = fit(found)
    errors = [abs(a + b * one.n + c * one.n * one.megabytes - one.seconds) / one.seconds for one in found]
    said = "; ".join(f"{n} machines, 1 MB: {a + (b + c) * n:.0f} s" for n in LARGE)
    note = f"{a:.2f} + {b:.3f}·n + {c:.4f}·n·MB seconds; the model says, unmeasured: {said}"
    worst = 1 + max(errors)
    return BenchmarkResult(
        "scale", "the model against what was measured", worst, (1.0, worst), a, b, Goal("at most", 2.0), note=note
    )
