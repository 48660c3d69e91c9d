"""A linear head in closed form, from sums that add up over clients.

    G = Σ_i x_i x_iᵀ      S = Σ_i x_i y_iᵀ (y one-hot)      W = (G + r·I)⁻¹ S

x are features with a 1 appended. The strength r is chosen from the same sums by generalised cross-validation: r that
minimises RSS(r) / (1 − df(r)/n)², with df(r) = Σ_j g_j/(g_j + r) over the eigenvalues g of G. No image is needed twice.
Source: Golub, Heath, Wahba, "Generalized Cross-Validation", 1979.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.core.values import State

STRENGTHS = 10.0 ** torch.arange(-4, 2, 0.5, dtype=torch.float64)
"""r as a share of the mean eigenvalue of G."""


def sums(features: Tensor, labels: Tensor, n_classes: int) -> State:
    """G, S and n of some images: what a client would send."""
    x = with_one(features)
    y = F.one_hot(labels, n_classes).double()
    return {"gram": x.T @ x, "classes": x.T @ y, "n": torch.tensor(len(labels))}


def solved(parts: Sequence[State]) -> Tensor:
    """W [D + 1, C] of the sums of all parts."""
    gram, classes = (torch.stack([part[name] for part in parts]).sum(0) for name in ("gram", "classes"))
    n = sum(int(part["n"]) for part in parts)
    values, vectors = torch.linalg.eigh(gram)
    values, turned = values.clamp_min(0), vectors.T @ classes
    scores = torch.stack([_gcv(values, turned, n, r) for r in STRENGTHS * values.mean()])
    best = STRENGTHS[scores.argmin()] * values.mean()
    head: Tensor = vectors @ (turned / (values + best)[:, None])
    return head


def _gcv(values: Tensor, turned: Tensor, n: int, r: Tensor) -> Tensor:
    """Each image has one 1 in y, so Σ y² = n."""
    w = turned / (values + r)[:, None]
    rss = n - 2 * (w * turned).sum() + (values[:, None] * w.square()).sum()
    df = (values / (values + r)).sum()
    return rss / (1 - df / n).clamp_min(1e-6).square()


def with_one(features: Tensor) -> Tensor:
    return torch.cat([features.double(), torch.ones(len(features), 1, dtype=torch.float64)], 1)


def concatenated(features: Sequence[Tensor]) -> Tensor:
    """Directions of all encoders' features side by side."""
    return torch.cat([F.normalize(part, dim=1) for part in features], 1)
