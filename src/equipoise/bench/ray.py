"""A thousand tiny clients on a Ray cluster of this machine, against worker processes: two workers each.

logistic          clients train along one axis: few calls, most of the time is spent on training
logistic-alone    clients train one by one: a thousand cohorts, several to a call
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

from equipoise.bench.job import BenchmarkJob, make_job
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import Ours
from equipoise.bench.race import settings
from equipoise.bench.tiny import CLIENTS, IMAGES, MODELS

WORKERS, AT_MOST = 2, 1.3
WAYS: dict[str, dict[str, Any]] = {"logistic": {}, "logistic-alone": {"together": 1}}


def a_job(engine: str, more: dict[str, Any]) -> BenchmarkJob:
    given = settings(MODELS["logistic"], CLIENTS) | {"engine": {"name": engine, "workers": WORKERS, **more}}
    return make_job(given, (3, 8, 8), [IMAGES] * CLIENTS)


def run(repeats: int) -> Iterator[BenchmarkResult]:
    if find_spec("ray") is None:
        raise LookupError("Ray is not installed: pip install 'equipoise[ray]'")
    for name, more in WAYS.items():
        with ExitStack() as stack:
            jobs = [a_job(engine, more) for engine in ("ray", "processes")]
            sides = [stack.enter_context(Ours(job)) for job in jobs]
            ours, theirs = by_turns(sides, repeats, jobs[0].loss)
        what = f"{CLIENTS} clients × {IMAGES} images, {WORKERS} workers, against engine=processes"
        yield compared(f"ray/{name}", what, ours, theirs, Goal("at most", AT_MOST), tolerance=0.0)
