"""A site of four clients on random images, the last of which has a label that does not exist."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.values import ClientUpdate, Samples, Task
from equipoise.data.inputs import PixelInputs
from equipoise.engine.node import Node
from equipoise.kind.samples.site import SampleSite
from equipoise.method.resolve import resolve
from equipoise.models.build import state_of
from tests.conftest import tiny

N_CLASSES = 4
BAD_CLIENT = 3
INPUTS = PixelInputs((0.5,) * 3, (0.25,) * 3)


def a_site(*overrides: str, n_clients: int = 4, model: str = "mlp") -> SampleSite:
    """The first clients are the same however many there are; the images come from a fixed seed."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, N_CLASSES, 200)
    bounds = np.array([0, 20, 45, 80, 100, 130])
    indices = [np.arange(bounds[k], bounds[k + 1]) for k in range(n_clients)]
    labels[bounds[BAD_CLIENT] : bounds[BAD_CLIENT + 1]] = 99
    samples = Samples(rng.integers(0, 256, (200, 1, 8, 8), dtype=np.uint8), labels)
    config = tiny("client.batch=8", "client.lr=0.01", *overrides, model=model)
    return SampleSite(config, resolve(config), samples, indices, N_CLASSES, INPUTS)


def start_of(site: SampleSite):
    return state_of(site.network())


def tasks_of(site: SampleSite, clients=(0, 1, 2), epochs: range = range(1)) -> list[Task]:
    start = start_of(site)
    return [Task(0, client, epochs, start) for client in clients]


@pytest.fixture(scope="session")
def expected() -> list[ClientUpdate]:
    """What clients 0, 1 and 2 answer in this process."""
    site = a_site()
    results = [Node(site).work([task])[0] for task in tasks_of(site)]
    return [result for result in results if isinstance(result, ClientUpdate)]
