"""Size skew: clients differ in how much they have, not in what.

    q ~ Dir(α·1_K);  n_k = ⌊q_k·N⌋, the rest one each to distinct clients drawn uniformly;  samples drawn uniformly

Disjoint and exhaustive; labels are independent of the client. Source: NIID-Bench (Li et al. 2022), quantity skew.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import apportion, log_dirichlet, shuffled
from equipoise.partition.owners import settle


class QuantityOptions(PartitionOptions):
    name: str = "quantity"
    alpha: float = Field(0.5, gt=0, description="concentration of the sizes, Dir(α·1_K); smaller is more unequal")


@SPLITTERS.register("quantity", aliases=("quantity-skew",), options=QuantityOptions)
def quantity(labels: Labels, n_classes: int, options: QuantityOptions, rng: np.random.Generator) -> list[Indices]:
    N, K = len(labels), options.clients
    shares = np.exp(log_dirichlet(options.alpha, (1, K), rng))
    sizes = apportion(np.array([N]), shares, rng)[0]
    owner = np.empty_like(labels)
    owner[shuffled(np.arange(N), rng)] = np.repeat(np.arange(K), sizes)
    return settle(owner, labels, options, rng)
