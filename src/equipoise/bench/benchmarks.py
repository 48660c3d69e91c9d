"""The benchmarks by name. Each is a module with a function `run(repeats)` that yields results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from equipoise.bench.measure import BenchmarkResult
from equipoise.core.errors import ConfigError
from equipoise.core.registry import suggestion

NAMES = {
    "overhead": "cost of the training loop, against bare PyTorch",
    "cohort": "50 clients of a small CNN, against a plain loop",
    "tiny": "1000 clients of logistic regression and a small MLP, against a plain loop",
    "ray": "1000 tiny clients on a Ray cluster of this machine, against worker processes",
    "together": "whether the cost model chooses the faster path: clients along one axis, or one by one",
    "device": "whether the faster path is chosen on the device that engine.device=auto means here",
    "startup": "from the command to the first finished round",
    "vision-round": "two views and four terms, against transforms image by image",
    "fuse": "six servers on trained clients, against training these clients",
    "rec": "a FedDMMR round, against one client and one candidate at a time",
    "memory": "peak memory of 100 000 clients, against 1 000",
    "store": "cost of writing to the store, against the rest of a run",
    "scale": "what a round over real machines costs, by their number and by what they send; needs the extra flower",
    "dashboard": "how fast the dashboard answers from a large store, and what it costs beside a run",
    "growth": "how cost grows with clients, rounds, classes and items",
}


def find(name: str) -> Callable[[int], Iterator[BenchmarkResult]]:
    if name not in NAMES:
        raise ConfigError(
            f"no benchmark is called '{name}'{suggestion(name, list(NAMES))}", fix="equipoise bench --list"
        )
    run: Callable[[int], Iterator[BenchmarkResult]] = import_module(f"equipoise.bench.{name.replace('-', '_')}").run
    return run
