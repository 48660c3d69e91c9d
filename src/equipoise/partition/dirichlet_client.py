"""Label skew by client: every client has its own label prior and draws from it until no samples are left.

    p_k ~ Dir(α·1_C) for each client;  n_k = N/K, whole numbers
    repeat until all are given: each open place of client k asks for a class c ~ p_k, among the classes left;
                                a class asked for more often than it has samples serves askers drawn uniformly

Each pass fills every place or empties a class, so there are at most C + 1 passes. Disjoint and exhaustive; sizes equal.
Source: the rule of FedDyn (Acar et al. 2021) and FedLab's balanced Dirichlet; asking in passes instead of one by one
is ours.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from equipoise.config.blocks import PartitionOptions
from equipoise.core.registry import SPLITTERS
from equipoise.core.values import Indices, Labels
from equipoise.partition.draws import Shares, by_class, log_dirichlet, shuffled
from equipoise.partition.owners import settle


class DirichletClientOptions(PartitionOptions):
    name: str = "dirichlet-client"
    alpha: float = Field(0.5, gt=0, description="concentration of each client's label prior Dir(α·1_C)")


@SPLITTERS.register("dirichlet-client", aliases=("dir-client",), options=DirichletClientOptions)
def dirichlet_client(
    labels: Labels, n_classes: int, options: DirichletClientOptions, rng: np.random.Generator
) -> list[Indices]:
    N, K = len(labels), options.clients
    log_prior = log_dirichlet(options.alpha, (K, n_classes), rng)
    stock = np.bincount(labels, minlength=n_classes)
    pool = by_class(labels, rng)
    first = np.cumsum(stock) - stock
    owner = np.empty_like(labels)
    places = np.arange(N) % K
    while len(places):
        wanted = asked(places, log_prior, np.flatnonzero(stock), rng)
        place, label = served(wanted, stock, rng)
        nth = np.arange(len(label)) - np.searchsorted(label, label)
        owner[pool[first[label] + nth]] = places[place]
        taken = np.bincount(label, minlength=n_classes)
        first, stock = first + taken, stock - taken
        places = np.delete(places, place)
    return settle(owner, labels, options, rng)


def asked(places: Indices, log_prior: Shares, left: Indices, rng: np.random.Generator) -> Indices:
    """The class that each place asks for: c ~ p_k restricted to the classes `left`, by inverting the cumulative sum."""
    clients, row = np.unique(places, return_inverse=True)
    logit = log_prior[np.ix_(clients, left)]
    running = np.cumsum(np.exp(logit - logit.max(axis=1, keepdims=True)), axis=1)
    rising = (running / running[:, -1:] + np.arange(len(clients))[:, None]).ravel()
    found = np.searchsorted(rising, rng.random(len(places)) + row, side="right") - row * len(left)
    classes: Indices = left[np.minimum(found, len(left) - 1)]
    return classes


def served(wanted: Indices, stock: Indices, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """The places that get the class they asked for, class by class; if too many ask, a uniform choice of them."""
    queue = shuffled(np.arange(len(wanted)), rng)
    queue = queue[np.argsort(wanted[queue], kind="stable")]
    label = wanted[queue]
    nth = np.arange(len(label)) - np.searchsorted(label, label)
    is_served = nth < stock[label]
    return queue[is_served], label[is_served]
