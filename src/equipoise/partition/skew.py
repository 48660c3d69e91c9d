"""Realised skew: how uneven a partition is, measured on the result and not on the settings.

    p_k(c) = n_kc / n_k      p(c) = n_c / N, of the whole set
    entropy              mean over clients of H_k = −Σ_c p_k(c)·log₂ p_k(c)                              bits
    entropy_normalised   entropy / log₂ C;  0 for C = 1                                                  0 … 1
    classes              mean over clients of |{c : n_kc > 0}|
    emd                  Σ_k (n_k / Σ_j n_j) · Σ_c |p_k(c) − p(c)|, L1 over labels, weighted by size     0 … 2
    overlap              share of all samples that belong to two clients or more                         0 … 1
    size_min, size_mean, size_max, size_std      of n_k, over clients
    samples              Σ_k n_k;  more than N only where clients overlap
    counted              number of clients measured, if not all; overlap is then the expected value for all

A client without samples counts as entropy 0 and 0 classes. Source: EMD as in Zhao et al. 2018 (arXiv:1806.00582), §3.
"""

from __future__ import annotations

import numpy as np

from equipoise.core.values import Floats, Indices


def realised_skew(counts: Indices, totals: Indices, overlap: float) -> dict[str, float]:
    """`counts` [K, C] of the clients, `totals` [C] of the whole set."""
    sizes = counts.sum(axis=1)
    mean_entropy = float(entropy(counts).mean())
    n_classes = counts.shape[1]
    return {
        "entropy": mean_entropy,
        "entropy_normalised": mean_entropy / float(np.log2(n_classes)) if n_classes > 1 else 0.0,
        "classes": float((counts > 0).sum(axis=1).mean()),
        "emd": float(np.average(distance(counts, totals), weights=sizes)) if sizes.sum() else 0.0,
        "overlap": overlap,
        "size_min": float(sizes.min()),
        "size_mean": float(sizes.mean()),
        "size_max": float(sizes.max()),
        "size_std": float(sizes.std()),
        "samples": float(sizes.sum()),
    }


def distributions(counts: Indices) -> Floats:
    """p_k(c): each row of counts as shares; a row of zeros stays zeros."""
    shares: Floats = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return shares


def entropy(counts: Indices) -> Floats:
    """H_k in bits, per client.

    >>> entropy(np.array([[1, 1, 2], [7, 0, 0]])).tolist()
    [1.5, 0.0]
    """
    p = distributions(counts)
    log_p = np.log2(p, where=p > 0, out=np.zeros_like(p))
    bits: Floats = np.abs((p * log_p).sum(axis=1))
    return bits


def distance(counts: Indices, totals: Indices) -> Floats:
    """Σ_c |p_k(c) − p(c)|, per client."""
    return np.asarray(np.abs(distributions(counts) - distributions(totals)).sum(axis=1))
