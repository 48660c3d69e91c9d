"""Cost of recording: the share of a run that goes into the store, and rows per second.

The run is an ordinary one, FedAvg with a small CNN on digits, timed by the profile's stopwatch. The time of the store
is compared with the rest of the run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from equipoise.bench.measure import BenchmarkResult, Goal, paired
from equipoise.config.loader import load
from equipoise.core.stopwatch import WATCH
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import metrics
from equipoise.store.database import open_store

ROUNDS = 10


def run(repeats: int) -> Iterator[BenchmarkResult]:
    request = load("fedavg", [f"rounds={ROUNDS}", "client.epochs=5"])
    writing, rest, rows = [], [], 0
    for _ in range(repeats + 1):
        with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "runs.db")) as store:
            WATCH.start()
            began = time.perf_counter()
            run_id = start(store, request, Nobody())
            total, laps = time.perf_counter() - began, WATCH.stop()
            rows = len(metrics.rows(store, run_id))
        writing.append(laps["store"])
        rest.append(total - laps["start"] - laps["store"])
    what = f"{ROUNDS} rounds of FedAvg on digits: writing, against all the rest"
    note = f"{rows} rows, {rows / writing[-1]:.0f} rows and states a second"
    yield paired("store", what, (writing[1:], rest[1:]), Goal("at most", 0.02), note=note)
