"""Least squares from sums, with or without a ridge, also where the sums are singular.

    W = (G + r·I)⁻¹ S        where that is singular: W = V (Λ + r)⁺ Vᵀ S,  G = V Λ Vᵀ

A⁺ leaves out directions below ε·D of the largest. Sums travel in single precision, which says nothing of those. So
copies of a feature share its weight, and fewer samples than features give the solution of least norm.
"""

from __future__ import annotations

import torch
from torch import Tensor

EPSILON = torch.finfo(torch.float32).eps
"""ε of sums that have travelled."""
EXACT = torch.finfo(torch.float64).eps
"""ε of a client's own sums."""


def ridge(gram: Tensor, target: Tensor, strength: float = 0.0, epsilon: float = EPSILON) -> Tensor:
    """W [D, C], in double precision."""
    shifted = gram.clone()
    shifted.diagonal().add_(strength)
    factor, failed = torch.linalg.cholesky_ex(shifted)
    pivots = factor.diagonal().square()
    if not failed and pivots.min() > epsilon * len(gram) * pivots.max():
        return torch.cholesky_solve(target, factor)
    values, vectors = torch.linalg.eigh(shifted)
    kept = values > epsilon * len(gram) * values.max().clamp_min(torch.finfo(values.dtype).tiny)
    inverse = torch.where(kept, values, torch.inf).reciprocal()
    weights: Tensor = vectors @ (inverse[:, None] * (vectors.T @ target))
    return weights
