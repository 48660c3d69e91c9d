"""Fixed anchors that all clients share: unit rows a_c ∈ R^D, one per class.

    etf      ⟨a_c, a_j⟩ = (C·δ_cj − 1)/(C − 1): a simplex, every two classes at the same angle; needs D ≥ C − 1
    random   rows of a Gaussian, scaled to length 1

A simplex of C points spans C − 1 dimensions: take an orthonormal basis of the vectors of R^C whose entries sum to
zero, scale its rows to length 1, and turn it into R^D by a random rotation.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.errors import ConfigError
from equipoise.core.streams import stream

Anchors = Literal["etf", "random"]


def anchors(kind: Anchors, n_classes: int, n_features: int, seed: int) -> Tensor:
    """A ∈ R^{C×D}, float32, drawn from the run's own stream."""
    draw = stream(seed, "anchors", kind)
    gaussian = draw.standard_normal((n_features, n_classes)).T
    rows = gaussian if kind == "random" else _simplex(gaussian)
    return torch.from_numpy(rows / np.linalg.norm(rows, axis=1, keepdims=True)).float()


def _simplex(gaussian: NDArray[np.float64]) -> NDArray[np.float64]:
    """C corners of a regular simplex, turned into R^D by the rotation that orthonormalises the Gaussian."""
    n_classes, n_features = gaussian.shape
    if n_features < n_classes - 1:
        raise ConfigError(
            f"{n_classes} classes need features of size {n_classes - 1} or more for ETF anchors, got {n_features}",
            where="model",
            fix=f"a larger width, or a projector: model.projector={n_classes}; or method.anchors=random",
        )
    if n_classes == 1:
        return gaussian
    centred = np.eye(n_classes) - 1 / n_classes
    corners = np.linalg.svd(centred)[0][:, : n_classes - 1]
    rotation = np.linalg.qr(gaussian[: n_classes - 1].T)[0]
    turned: NDArray[np.float64] = corners @ rotation.T
    return turned
