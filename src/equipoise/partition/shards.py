"""A few classes per client: sort by label, cut into equal shards, deal s shards to each client.

    order samples by label;  sample at position i belongs to shard ⌊i·K·s/N⌋;  s shards, drawn uniformly, per client

A shard that straddles two classes brings both, so a client has at most 2s classes and s when shards fit the classes.
Disjoint and exhaustive. Source: McMahan et al. 2017 (arXiv:1602.05629), "pathological non-IID", with s = 2.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import by_class, shuffled
from equipoise.partition.owners import settle


class ShardsOptions(PartitionOptions):
    name: str = "shards"
    classes_per_client: int = Field(2, ge=1, description="shards per client, s; each is cut from one or two classes")


@SPLITTERS.register("shards", aliases=("pathological",), options=ShardsOptions)
def shards(labels: Labels, n_classes: int, options: ShardsOptions, rng: np.random.Generator) -> list[Indices]:
    N, K, s = len(labels), options.clients, options.classes_per_client
    if K * s > N:
        raise PartitionError(
            f"{K} clients with {s} shards each need {K * s} samples, there are {N}",
            where="partition shards",
            fix="lower partition.clients or partition.classes_per_client, or raise data.limit",
        )
    client = np.empty(K * s, dtype=np.int64)
    client[shuffled(np.arange(K * s), rng)] = np.arange(K * s) // s
    owner = np.empty_like(labels)
    owner[by_class(labels, rng)] = client[np.arange(N) * (K * s) // N]
    return settle(owner, labels, options, rng)
