"""Models so small that overhead dominates: 1000 clients, 100 images of 8×8 each, batch 10, a few thousand weights."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.bench.job import make_job
from equipoise.bench.measure import BenchmarkResult
from equipoise.bench.race import Contest, race, settings

CLIENTS, IMAGES = 1000, 100
MODELS = {"logistic": {"name": "mlp", "layers": 0}, "mlp": {"name": "mlp", "hidden": 32}}


def contests() -> Iterator[Contest]:
    for name, model in MODELS.items():
        job = make_job(settings(model, CLIENTS), (3, 8, 8), [IMAGES] * CLIENTS)
        weights = sum(tensor.numel() for tensor in job.start.values())
        what = f"{CLIENTS} clients × {IMAGES} images, {name} of {weights} weights"
        yield Contest(f"tiny-{name}", what, job, goal=20.0)


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for contest in contests():
        yield from race(contest, repeats)
