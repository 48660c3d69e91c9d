"""Fixed anchors that all clients share: unit rows a_c ∈ R^D, one per class.

    etf      ⟨a_c, a_j⟩ = (C·δ_cj − 1)/(C − 1): a simplex, any two classes at the same angle; needs D ≥ C − 1
    random   rows of a Gaussian, scaled to length 1

A simplex of C points spans C − 1 dimensions: take an orthonormal basis of the vectors of R^C whose entries sum to
zero, scale its rows to length 1, and map it into R^D by a random rotation. A formula fixes both basis and rotation
(Helmert's basis; R with a positive diagonal), so every machine computes the same anchors.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.config.choices import Anchors
from equipoise.core.errors import ConfigError
from equipoise.core.streams import stream


def anchors(kind: Anchors, n_classes: int, n_features: int, seed: int) -> Tensor:
    """A ∈ R^{C×D}, float32, drawn from the run's own stream."""
    draw = stream(seed, "anchors", kind)
    gaussian = draw.standard_normal((n_features, n_classes)).T
    rows = gaussian if kind == "random" else _simplex(gaussian)
    return torch.from_numpy(rows / np.linalg.norm(rows, axis=1, keepdims=True)).float()


def _simplex(gaussian: NDArray[np.float64]) -> NDArray[np.float64]:
    """The C corners of a regular simplex, mapped into R^D by the rotation that orthonormalises the Gaussian."""
    n_classes, n_features = gaussian.shape
    if n_features < n_classes - 1:
        raise ConfigError(
            f"{n_classes} classes need features of size {n_classes - 1} or more for ETF anchors, got {n_features}",
            where="model",
            fix=f"a larger width, or a projector: model.projector={n_classes}; or method.anchors=random",
        )
    if n_classes == 1:
        return gaussian
    q, r = np.linalg.qr(gaussian[: n_classes - 1].T)
    turned: NDArray[np.float64] = _helmert(n_classes) @ (q * np.sign(np.diag(r))).T
    return turned


def _helmert(n: int) -> NDArray[np.float64]:
    """Column k is (1, …, 1, −k, 0, …, 0)/√(k(k+1)) with k ones: [n, n−1], orthonormal, entries sum to zero."""
    k = np.arange(1, n)
    rows = np.arange(n)[:, None]
    found: NDArray[np.float64] = np.where(rows < k, 1.0, np.where(rows == k, -k, 0.0)) / np.sqrt(k * (k + 1))
    return found
