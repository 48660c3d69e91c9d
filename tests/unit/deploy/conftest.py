"""Finished runs to take models out of: one per network, with every server that fits fused onto its clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.core.registry import PREDICTS
from equipoise.core.values import Samples
from equipoise.data.splits import load_splits
from equipoise.deploy.predictor import Predictor
from equipoise.run.fuse import fuse, servers_of
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.database import Store, open_store
from equipoise.store.records import Run
from tests.conftest import one_shot

SMALL_RESNET = ("model.width=4", "model.projector=16")
TRAINED = {
    "mlp": one_shot("method=fafi", epochs=2, checkpoints=1),
    "resnet8": one_shot("method=fafi", *SMALL_RESNET, epochs=2, checkpoints=1, model="resnet8"),
    "means": one_shot("method=fedproto", epochs=2, checkpoints=1),
}
"""Methods whose clients every way to predict can be fused onto, between them."""
WAYS = [
    (trained, entry.name)
    for trained in TRAINED
    for entry in PREDICTS
    if ("means" in entry.traits) == (trained == "means") and not (trained == "mlp" and "batch-norm" in entry.traits)
]
"""(what was trained, way to predict)."""


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(str(tmp_path_factory.mktemp("deploy") / "equipoise.db"), patience=60) as opened:
        yield opened


def run_of(store: Store, config: Config) -> Run:
    return read.find_run(store, start(store, Request(config, None), Nobody()))


@pytest.fixture(scope="session")
def servers(store: Store) -> dict[tuple[str, str], Run]:
    """(what was trained, way to predict) → the run with that server."""
    found = {}
    for trained, config in TRAINED.items():
        run = run_of(store, config)
        names = [name for of, name in WAYS if of == trained]
        ids = fuse(store, run, servers_of(run, [], names))
        found |= {(trained, name): read.find_run(store, run_id) for name, run_id in zip(names, ids, strict=True)}
    return found


def test_samples(run: Run) -> Samples:
    config = check(run.config)
    return load_splits(config.data, config.seed).test


test_samples.__test__ = False  # type: ignore[attr-defined]


def recorded(store: Store, run: Run, name: str = "accuracy/merged") -> float:
    return read.final_metrics(store, run.run_id)[name]


def accuracy_of(model: Predictor, samples: Samples) -> float:
    with torch.no_grad():
        probabilities = model(torch.from_numpy(samples.inputs))
    return accuracy(probabilities.numpy(), samples)


def accuracy(probabilities: np.ndarray, samples: Samples) -> float:
    return float((probabilities.argmax(1) == samples.labels).mean())


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
