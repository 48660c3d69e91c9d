"""A linear head in closed form, from sums that add up over clients.

    G = Σ_i x_i x_iᵀ      S = Σ_i x_i y_iᵀ (y one-hot)      m = Σ_i x_i      c = Σ_i y_i
    Ĝ = D⁻¹ (G − m mᵀ/n) D⁻¹      Ŝ = D⁻¹ (S − m cᵀ/n)      W = D⁻¹ (Ĝ + r·I)⁻¹ Ŝ      D² = diagonal of G/n − (m/n)²

The sums carry the same information as class means and covariances. The strength r is chosen from them by generalised
cross-validation: the r that minimises RSS(r) / (1 − df(r)/n)², df(r) = 1 + Σ_j g_j/(g_j + r) over the eigenvalues of Ĝ,
of those above what rounding moves eigenvalues by: r ≥ ε·‖D⁻¹GD⁻¹‖/√D, ε the share of an entry that is lost on the way.
Every sample is read once. Solved heads are cached, since features that are not trained give the same sums for every
server and every checkpoint. Source: Golub, Heath, Wahba, "Generalized Cross-Validation", 1979.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.client.own import OwnSamples
from equipoise.core.streams import stream
from equipoise.core.values import State

STRENGTHS = 10.0 ** torch.arange(-4, 2.5, 0.5, dtype=torch.float64)
"""r as a share of the mean eigenvalue of Ĝ."""
LARGE, PROBES = 2048, 64
"""Largest number of features whose Gram matrix is decomposed into eigenvalues; number of probes for larger ones."""
SINGLE, HALF = 2.0**-24, 2.0**-11
"""ε of sums that travel in single or half precision."""
CONSTANT = 1e-6
"""Features whose variance is a smaller share of their mean square are constant up to rounding, and get no weight."""
KEPT = 8
"""Number of solved heads in the cache."""
_known: dict[bytes, Tensor] = {}
"""Hash of the sums → head, the newest last."""


def sums(features: Tensor, labels: Tensor, n_classes: int) -> State:
    """G, S, m and c of some samples."""
    x, y = features.double(), F.one_hot(labels, n_classes).double()
    return {"gram": x.T @ x, "classes": x.T @ y, "features": x.sum(0), "counts": y.sum(0)}


def client_sums(features: Tensor, own: OwnSamples) -> State:
    """What a client sends: its sums, in single precision."""
    found = sums(features, own.labels, len(own.counts))
    return {name: tensor.float() for name, tensor in found.items()}


def solved(parts: Sequence[State], trust: Tensor | None = None) -> Tensor:
    """W and, as its last row, the bias: [D + 1, C], from the sums of all clients; with `trust` D is divided by it."""
    names = ("gram", "classes", "features", "counts")
    gram, classes, features, counts = totals = [
        torch.stack([part[name].double() for part in parts]).sum(0) for name in names
    ]
    given = totals if trust is None else [*totals, trust]
    key = blake2b(b"".join([repr(totals[1].shape).encode(), *(total.numpy().tobytes() for total in given)])).digest()
    head = _known.pop(key) if key in _known else head_of(gram, classes, features, counts, SINGLE, trust)
    _known[key] = head
    while len(_known) > KEPT:
        del _known[next(iter(_known))]
    return head


def head_of(
    gram: Tensor,
    classes: Tensor,
    features: Tensor,
    counts: Tensor,
    rounding: float = SINGLE,
    trust: Tensor | None = None,
) -> Tensor:
    """The head, from sums whose Gram matrix may be overwritten; `rounding` is ε, `trust` as above."""
    n = counts.sum()
    scale = (gram.diagonal() / n - (features / n).square()).clamp_min(1e-12).sqrt()
    scale[scale.square() <= CONSTANT * gram.diagonal() / n] = torch.inf
    if trust is not None:
        scale = scale / trust
    gram.div_(scale).div_(scale[:, None])
    lost = rounding * float(gram.norm()) / len(gram) ** 0.5
    gram.addr_(features / scale / n, features / scale, alpha=-1)
    turned = (classes - torch.outer(features, counts) / n) / scale[:, None]
    about = About(float(n - counts.square().sum() / n), float(n), _strengths(gram, lost))
    solve = by_eigenvalues if len(gram) <= LARGE else by_factors
    weights = solve(gram, turned, about) / scale[:, None]
    bias = (counts - features @ weights) / n
    return torch.cat([weights, bias[None]])


class About(NamedTuple):
    """What a solution needs beside Ĝ and Ŝ."""

    spread: float
    """Σ_i ‖y_i − ȳ‖²."""
    n: float
    strengths: Sequence[float]
    """r that may be chosen, rising."""


def _strengths(gram: Tensor, least: float) -> list[float]:
    found = [float(r) for r in STRENGTHS * (gram.trace() / len(gram)).clamp_min(1e-12)]
    return [r for r in found if r >= least] or found[-1:]


def by_eigenvalues(gram: Tensor, target: Tensor, about: About) -> Tensor:
    """(Ĝ + r·I)⁻¹ Ŝ with the best r, from the eigenvalues of Ĝ."""
    values, vectors = torch.linalg.eigh(gram)
    values, turned = values.clamp_min(0), vectors.T @ target
    best = min(about.strengths, key=lambda r: float(_gcv(values, turned, about, r)))
    weights: Tensor = vectors @ (turned / (values + best)[:, None])
    return weights


def by_factors(gram: Tensor, target: Tensor, about: About) -> Tensor:
    """The same for a large Ĝ, with a Cholesky factor per strength: every power of ten, then what is beside the best.

    D − df(r) + 1 = r·tr (Ĝ + r·I)⁻¹ ≈ r·mean uᵀ(Ĝ + r·I)⁻¹u,  random u of ±1        Source: Hutchinson, 1990
    """
    signs = torch.from_numpy(stream(0, "ridge-probes").choice([-1.0, 1.0], (len(gram), PROBES)))
    strengths = about.strengths

    def scored(place: int) -> tuple[float, Tensor]:
        r = strengths[place]
        w, df = _by_factor(gram, target, signs, r)
        rss = about.spread - (w * target).sum() - r * w.square().sum()
        return float(rss) / max(1 - df / about.n, 1e-6) ** 2, w

    tried = {place: scored(place) for place in range(0, len(strengths), 2)}
    best = min(tried, key=lambda place: tried[place][0])
    tried |= {place: scored(place) for place in (best - 1, best + 1) if 0 <= place < len(strengths)}
    return min(tried.values(), key=lambda each: each[0])[1]


def _by_factor(gram: Tensor, target: Tensor, signs: Tensor, r: float) -> tuple[Tensor, float]:
    """(Ĝ + r·I)⁻¹ Ŝ and df(r). Where rounding made Ĝ + r·I indefinite, r is too small: no weights, and infinite df."""
    shifted = gram.clone()
    shifted.diagonal().add_(r)
    factor, failed = torch.linalg.cholesky_ex(shifted, out=(shifted, torch.empty((), dtype=torch.int32)))
    if failed:
        return torch.zeros_like(target), float("inf")
    solved = torch.cholesky_solve(torch.cat([target, signs], 1), factor)
    w, probed = torch.split(solved, [target.shape[1], signs.shape[1]], 1)
    return w.clone(), 1 + len(gram) - r * float((signs * probed).sum()) / PROBES


def _gcv(values: Tensor, turned: Tensor, about: About, r: float) -> Tensor:
    w = turned / (values + r)[:, None]
    rss = about.spread - 2 * (w * turned).sum() + (values[:, None] * w.square()).sum()
    df = 1 + (values / (values + r)).sum()
    return rss / (1 - df / about.n).clamp_min(1e-6).square()


def applied(head: Tensor, features: Tensor) -> Tensor:
    """x·W + bias [N, C]."""
    return features.double() @ head[:-1] + head[-1]


def concatenated(features: Sequence[Tensor]) -> Tensor:
    """Directions of all encoders' features side by side."""
    return torch.cat([F.normalize(part, dim=1) for part in features], 1)
