"""Estimates a run before it starts: samples per client, traffic, and duration.

    operations = 6 · multiply-adds of a sample · samples trained on        seconds = operations / (R · cores at work)

R is the number of operations per second of one core in `client/together.py`. Training is counted, scoring is not: the
figure only shows whether a run takes minutes or days. Networks that rank items are not estimated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from statistics import median
from typing import Any

from equipoise.client.together import SPEED
from equipoise.core.machine import cores
from equipoise.core.values import n_bytes
from equipoise.run.build import Federation

COUNTED = 1000
"""Samples are counted for at most this many clients, the first ones."""


@dataclass(frozen=True)
class Estimate:
    clients: int
    cohort: int
    """Number of clients that train between two checkpoints."""
    samples: tuple[int, float, int]
    """Samples per client: minimum, median, maximum."""
    parameters: int
    steps: int
    """Optimiser steps over all clients and the whole run."""
    bytes_each_way: int
    """Bytes over the whole run, models only."""
    seconds: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def estimate(federation: Federation) -> Estimate:
    config, n_clients = federation.config, federation.n_clients
    counted = [federation.roster.samples(client) for client in range(min(n_clients, COUNTED))]
    cohort = max(1, round(config.server.fraction * n_clients))
    epochs = federation.clock.epochs if federation.method.trains else 0
    share = cohort / len(counted)
    steps = share * epochs * sum(ceil(samples / config.client.batch) for samples in counted)
    trips = 1 if federation.carries else config.steps
    return Estimate(
        clients=n_clients,
        cohort=cohort,
        samples=(min(counted), float(median(counted)), max(counted)),
        parameters=sum(tensor.numel() for tensor in federation.start.values()),
        steps=round(steps),
        bytes_each_way=0 if federation.method.pools_data else trips * cohort * n_bytes(federation.start),
        seconds=_seconds(federation, share * epochs * sum(counted), cohort),
    )


def _seconds(federation: Federation, images: float, cohort: int) -> float | None:
    config, cost = federation.config, federation.site.multiply_adds()
    if cost is None:
        return None
    views = 2 if config.client.augment == "two-view" else 1
    operations = 6 * views * cost
    workers = getattr(config.engine, "workers", None) or (1 if config.engine.name == "local" else cores())
    return operations * images / (SPEED * min(workers, cohort))
