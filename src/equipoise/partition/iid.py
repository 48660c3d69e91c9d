"""No skew: the samples are shuffled and dealt out one by one.

    the sample at shuffled position i belongs to client i mod K;  sizes differ by one at most

Disjoint and exhaustive. Source: the control of every federated table.
"""

from __future__ import annotations

import numpy as np

from equipoise.config.blocks import PartitionOptions
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import shuffled
from equipoise.partition.owners import settle


class IidOptions(PartitionOptions):
    name: str = "iid"


@SPLITTERS.register("iid", aliases=("uniform",), options=IidOptions)
def iid(labels: Labels, n_classes: int, options: IidOptions, rng: np.random.Generator) -> list[Indices]:
    owner = np.empty_like(labels)
    owner[shuffled(np.arange(len(labels)), rng)] = np.arange(len(labels)) % options.clients
    return settle(owner, labels, options, rng)
