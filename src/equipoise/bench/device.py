"""The choice between clients along one axis and one by one, on the device that `engine.device=auto` means here.

That is the accelerator which torch reports, where memory decides (`how_many_fit`), or else the CPU, where the cost
model does (`how_many`). The ratio is the speed-up of the chosen path over the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.bench.measure import BenchmarkResult
from equipoise.bench.together import chosen_path
from equipoise.core.device import AUTO, device_of

NETWORKS = ("mlp", "cnn-8", "cnn")


def run(repeats: int) -> Iterator[BenchmarkResult]:
    device = device_of(AUTO)
    for network in NETWORKS:
        yield chosen_path("device", network, device, repeats)
