"""The task that federated simulators are usually timed with: 50 clients with 50 images of 32×32 each, a small CNN.

Batches have 10 images, and each client trains for one epoch. What bare processes reach in the same run is noted as the
limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.bench.bare import bare_processes
from equipoise.bench.job import make_job
from equipoise.bench.measure import BenchmarkResult
from equipoise.bench.race import Contest, race, settings

CLIENTS, IMAGES = 50, 50


def contests() -> Iterator[Contest]:
    job = make_job(settings({"name": "cnn"}, CLIENTS), (3, 32, 32), [IMAGES] * CLIENTS)
    yield Contest("cohort", f"{CLIENTS} clients × {IMAGES} images, CNN of 0.55 M weights", job, goal=1.3)


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for contest in contests():
        with bare_processes(contest.job) as limit:
            yield from race(contest, repeats, limit)
