"""The random draws all splitters share, from PCG64 doubles and gammas only, so that every machine draws the same.

    permutation   order of u_1 … u_n, u_i ~ U(0, 1)
    n of m        the first n places of a Fisher–Yates shuffle of m, without touching the others
    Dir(α·1_n)    log g_i = log Gamma(α + 1) + log(u_i)/α;   q = softmax(log g)
    whole counts  ⌊q_i·N⌋, and one more for as many distinct i, drawn uniformly, as samples are left

The logarithm is why this is written by hand: for α ≤ 0.01 numpy's own Dirichlet underflows, and others' splitters
then redraw for ever or divide zero by zero. Source: Gamma(α) = Gamma(α + 1)·U^(1/α), Marsaglia & Tsang 2000, §6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Indices, Labels

Shares = NDArray[np.float64]

TINY = 1e-300
"""Below any gamma that is drawn; keeps logarithms finite and changes no outcome."""

SNAP = 1e-9
"""A count this close below a whole number is that number, on machines that differ in the last bit of exp."""


def shuffled(index: Indices, rng: np.random.Generator) -> Indices:
    return index[np.argsort(rng.random(len(index)), kind="stable")]


def few(index: Indices, n: int, rng: np.random.Generator) -> Indices:
    """A uniform choice of `n` entries, none twice, in time that does not depend on how many there are."""
    moved: dict[int, int] = {}
    chosen = []
    for i, u in enumerate(rng.random(n).tolist()):
        j = i + int(u * (len(index) - i))
        chosen.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    return index[np.array(chosen, dtype=np.int64)]


def by_class(labels: Labels, rng: np.random.Generator) -> Indices:
    """All samples, class after class, each class in random order."""
    return np.lexsort((rng.random(len(labels)), labels))


def log_dirichlet(alpha: float, shape: tuple[int, int], rng: np.random.Generator) -> Shares:
    """Logarithms of one draw of Dir(α·1) per row; finite for every α > 0."""
    gamma = np.maximum(rng.standard_gamma(alpha + 1.0, shape), TINY)
    uniform = 1.0 - rng.random(shape)
    log_g: Shares = np.log(gamma) + np.log(uniform) / max(alpha, TINY)
    log_g -= log_g.max(axis=1, keepdims=True)
    log_g -= np.log(np.exp(log_g).sum(axis=1, keepdims=True))
    return log_g


def apportion(totals: Indices, shares: Shares, rng: np.random.Generator) -> Indices:
    """Whole numbers that add up to `totals` in each row, as near to the shares as rounding down allows."""
    counts: Indices = np.floor(shares * totals[:, None] + SNAP).astype(np.int64)
    left = totals - counts.sum(axis=1)
    rank = np.argsort(np.argsort(rng.random(shares.shape), axis=1, kind="stable"), axis=1, kind="stable")
    counts += rank < left[:, None]
    return counts
