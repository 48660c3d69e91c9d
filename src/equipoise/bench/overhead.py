"""Cost of the training loop: one client in Equipoise against a bare PyTorch loop, same batches, one thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.bench.job import make_job
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import Ours
from equipoise.bench.plain import plain

CASES: dict[str, tuple[dict[str, Any], int]] = {
    "resnet8": ({"name": "resnet8"}, 640),
    "resnet18": ({"name": "resnet18"}, 96),
}


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for name, (model, images) in CASES.items():
        settings = {"model": model, "client": {"epochs": 1, "batch": 32, "lr": 0.01}, "rounds": 1}
        job = make_job(settings | {"partition": {"clients": 1}}, (3, 32, 32), [images])
        with Ours(job) as ours:
            mine, bare = by_turns([ours, plain(job)], repeats, job.loss)
        what = f"{name}, {images} images, batch 32, against a bare loop"
        yield compared(f"overhead/{name}", what, mine, bare, Goal("at most", 1.03), tolerance=1e-2)
