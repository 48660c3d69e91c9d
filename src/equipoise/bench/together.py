"""A test of the CPU's cost model: does it choose the faster path, clients along one axis or one by one?

For each model both paths are timed with one thread. The ratio is the speed-up of the chosen path over the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.bench.job import BenchmarkJob, make_job
from equipoise.bench.measure import BenchmarkResult, Goal, by_turns, compared
from equipoise.bench.ours import Ours
from equipoise.core.device import Device
from equipoise.run.placed import described_device

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
    for case in CASES:
        yield chosen_path("together", case, Device(), repeats)


def chosen_path(benchmark: str, case: str, device: Device, repeats: int) -> BenchmarkResult:
    """The path that is chosen for a case on a device, by turns with the other path."""
    chosen = _job(case, device, None)
    is_together = chosen.site.together > 1
    other = _job(case, device, 1 if is_together else CLIENTS // 4)
    with Ours(chosen) as ours, Ours(other) as rival:
        mine, theirs = by_turns([ours, rival], repeats, chosen.loss)
    ways = ("together", "apart") if is_together else ("apart", "together")
    place = described_device(chosen.config)
    what = f"{CLIENTS} clients of {case} on {place}: {ways[0]} was chosen, against {ways[1]}"
    return compared(f"{benchmark}/{case}", what, mine, theirs, Goal("at least", 1.0), tolerance=1e-2)


def _job(case: str, device: Device, together: int | None) -> BenchmarkJob:
    model, shape = CASES[case]
    settings = {
        "model": model,
        "client": {"epochs": 1, "batch": 10, "lr": 0.05, "momentum": 0},
        "rounds": 1,
        "partition": {"clients": CLIENTS},
        "engine": {"name": "local", "device": device.name, "together": together},
    }
    return make_job(settings, shape, [30] * CLIENTS)
