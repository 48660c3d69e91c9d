"""How cost grows with the number of clients, rounds, classes and items: the slope of log time over log size.

A slope of 1 is proportional growth. The ratio of a result is the slope; `ours` and `theirs` are the seconds of the
largest and the smallest size.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from equipoise.bench.measure import BenchmarkResult, Goal
from equipoise.config.loader import load
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store.database import open_store

COMMON = ("data=synthetic", "data.test=200", "evaluate.clients=0", "client.epochs=1")
Settings = Callable[[int], list[str]]
IMAGES: dict[str, tuple[Sequence[int], Settings]] = {
    "clients": (
        (100, 200, 400, 800),
        lambda n: [f"partition.clients={n}", "partition=drawn", "data.train=2000", "model=mlp", "rounds=3"],
    ),
    "rounds": ((10, 20, 40, 80), lambda n: [f"rounds={n}", "partition.clients=20", "partition=drawn", "model=mlp"]),
    "classes": (
        (10, 20, 40, 80),
        lambda n: [f"data.classes={n}", f"data.train={50 * n}", "partition=iid", "partition.clients=10", "rounds=3"],
    ),
}
ITEMS = (500, 1000, 2000, 4000)


def run(repeats: int) -> Iterator[BenchmarkResult]:
    for name, (sizes, settings) in IMAGES.items():
        yield _slope(name, sizes, partial(_images, settings), repeats)
    yield _slope("items", ITEMS, _recommender, repeats)


def _images(settings: Settings, n: int) -> float:
    return _seconds("fedavg", [*COMMON, *settings(n)])


def _recommender(items: int) -> float:
    shape = ["data.users=60", f"data.items={items}", "rounds=5", "server.fraction=0.5"]
    return _seconds("rec/sasrec", ["data=planted", *shape])


def _seconds(preset: str, settings: list[str]) -> float:
    """Seconds of a whole run, from its first step on."""
    request, watch = load(preset, settings), StartTimer()
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "runs.db")) as store:
        start(store, request, watch)
        return time.perf_counter() - watch.began


class StartTimer(Nobody):
    """Records when a run begins its first step."""

    began = math.nan

    def begin(self, *_: object) -> None:
        self.began = time.perf_counter()


def _slope(name: str, sizes: Sequence[int], seconds: Callable[[int], float], repeats: int) -> BenchmarkResult:
    """Sizes take turns, so that a slow minute of the machine affects all of them."""
    table = np.array([[seconds(n) for n in sizes] for _ in range(repeats + 1)][1:])
    slopes = [float(np.polyfit(np.log(sizes), np.log(row), 1)[0]) for row in table]
    middle = np.median(table, axis=0)
    slope = float(np.polyfit(np.log(sizes), np.log(middle), 1)[0])
    what = f"{name} {sizes[0]} … {sizes[-1]}: slope of log time"
    spread = (min(slopes), max(slopes))
    return BenchmarkResult(
        f"growth/{name}", what, slope, spread, float(middle[-1]), float(middle[0]), Goal("at most", 1.05)
    )
