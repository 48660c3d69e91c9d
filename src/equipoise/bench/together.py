"""A test of the cost model: does it choose the faster path, clients along one axis or one by one?

For each model both paths are timed with one thread. The ratio is the speed-up of the chosen path over the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.bench.job import BenchmarkJob, make_job
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import Ours

CLIENTS = 64
CASES: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "logistic": ({"name": "mlp", "layers": 0}, (3, 8, 8)),
    "mlp": ({"name": "mlp", "hidden": 64}, (3, 8, 8)),
    "mlp-32": ({"name": "mlp", "hidden": 64}, (3, 32, 32)),
    "cnn-8": ({"name": "cnn", "width": 8, "features": 32}, (3, 8, 8)),
    "cnn-32": ({"name": "cnn", "width": 8, "features": 32}, (3, 32, 32)),
    "cnn": ({"name": "cnn"}, (3, 32, 32)),
}


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for name, (model, shape) in CASES.items():
        chosen = _job(model, shape, None)
        is_together = chosen.site.together > 1
        other = _job(model, shape, 1 if is_together else CLIENTS // 4)
        with Ours(chosen) as ours, Ours(other) as rival:
            mine, theirs = by_turns([ours, rival], repeats, chosen.loss)
        ways = ("together", "apart") if is_together else ("apart", "together")
        what = f"{CLIENTS} clients of {name}: {ways[0]} was chosen, against {ways[1]}"
        yield compared(f"together/{name}", what, mine, theirs, Goal("at least", 1.0), tolerance=1e-2)


def _job(model: dict[str, Any], shape: tuple[int, int, int], together: int | None) -> BenchmarkJob:
    settings = {
        "model": model,
        "client": {"epochs": 1, "batch": 10, "lr": 0.05, "momentum": 0},
        "rounds": 1,
        "partition": {"clients": CLIENTS},
        "engine": {"name": "local", "together": together},
    }
    return make_job(settings, shape, [30] * CLIENTS)
