"""Where overhead is everything: a thousand clients with a hundred 8×8 images each, batch 10, a few thousand weights."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.bench.cohort import races, settings
from equipoise.bench.job import make_job
from equipoise.bench.measure import Result

CLIENTS, IMAGES = 1000, 100
MODELS = {"logistic": {"name": "mlp", "layers": 0}, "mlp": {"name": "mlp", "hidden": 32}}
GOALS = {"plain": 20.0, "pfl": 10.0, "flower": 50.0}


def run(repeats: int) -> Iterator[Result]:
    for name, model in MODELS.items():
        job = make_job(settings(model, CLIENTS), (3, 8, 8), [IMAGES] * CLIENTS)
        weights = sum(tensor.numel() for tensor in job.start.values())
        what = f"{CLIENTS} clients × {IMAGES} images, {name} of {weights} weights"
        yield from races(f"tiny-{name}", what, job, GOALS, repeats)
