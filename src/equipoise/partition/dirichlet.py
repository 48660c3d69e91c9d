"""Label skew by class: each class is divided among the clients by its own Dirichlet draw.

    for each class c:  q ~ Dir(α·1_K);  n_kc = ⌊q_k·n_c⌋;  the rest, one each, to distinct clients drawn uniformly

Small α gives each class to few clients; large α gives everybody the same mix. Disjoint and exhaustive.
Source: Hsu et al. 2019 (arXiv:1909.06335) as used by NIID-Bench, without its redrawing until all clients are large.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import apportion, by_class, log_dirichlet
from equipoise.partition.owners import settle


class DirichletOptions(PartitionOptions):
    name: str = "dirichlet"
    alpha: float = Field(0.5, gt=0, description="concentration of Dir(α·1_K) per class; smaller is more skewed")


@SPLITTERS.register("dirichlet", aliases=("dir", "lda"), options=DirichletOptions)
def dirichlet(labels: Labels, n_classes: int, options: DirichletOptions, rng: np.random.Generator) -> list[Indices]:
    K = options.clients
    shares = np.exp(log_dirichlet(options.alpha, (n_classes, K), rng))
    counts = apportion(np.bincount(labels, minlength=n_classes), shares, rng)
    owner = np.empty_like(labels)
    owner[by_class(labels, rng)] = np.repeat(np.tile(np.arange(K), n_classes), counts.ravel())
    return settle(owner, labels, options, rng)
