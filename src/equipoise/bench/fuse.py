"""Six other servers on trained clients, against training these clients once.

Five ResNet-8 clients at the study's small scale train once on generated images; each repeat fuses a copy of them.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from equipoise.bench.measure import BenchmarkResult, Goal, paired
from equipoise.config.loader import load
from equipoise.run.fuse import Server, fuse
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store.database import open_store
from equipoise.store.read import find_run

SETTINGS = (
    "data=synthetic", "data.size=32", "data.train=5000", "data.test=2000", "partition.alpha=0.05",
    "model=resnet8", "model.width=16", "model.stem_stride=2", "model.projector=128",
    "client.epochs=20", "client.batch=64", "checkpoints=1", "evaluate.beside=never",
)  # fmt: skip
SERVERS = (
    Server("unit", "feature-average"), Server("counts", "feature-average"), Server(predict="probability-ensemble"),
    Server(predict="parameter-average"), Server(predict="energy-gate"), Server(predict="iffi"),
)  # fmt: skip


def run(repeats: int) -> Iterator[BenchmarkResult]:
    with tempfile.TemporaryDirectory() as folder:
        trained, began = Path(folder) / "trained", time.perf_counter()
        with open_store(str(trained / "runs.db")) as store:
            run_id = start(store, load("fafi", SETTINGS), Nobody())
        training = time.perf_counter() - began
        seconds = []
        for number in range(repeats):
            copy = Path(shutil.copytree(trained, Path(folder) / str(number)))
            with open_store(str(copy / "runs.db")) as store:
                began = time.perf_counter()
                fuse(store, find_run(store, run_id), SERVERS)
                seconds.append(time.perf_counter() - began)
    what = f"{len(SERVERS)} servers on five ResNet-8 clients, against training them once"
    yield paired("fuse", what, (seconds, [training] * repeats), Goal("at most", 0.1))
