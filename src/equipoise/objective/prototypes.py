"""Terms for learned prototypes P ∈ R^{C×D} as the head.

    pf = mean_i CE(softmax_c(logits_ic / τ_p), y_i)            pulls a feature to its own prototype
    pp = mean_c CE(softmax_j(p_c·p_j / τ_p), c)                pushes prototypes apart

With τ_p = 1 pf equals cls, as FAFI was published: cross-entropy counts twice. With cosine logits p has length 1 and
the products are multiplied by κ, as in the logits.
Source: FAFI, 2025.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.models.heads import PROTOTYPES
from equipoise.objective.compose import Term, View


def prototype_feature(tau: float = 1.0) -> Term:
    """pf."""

    def pf(view: View) -> Tensor:
        return view.cross_entropy(view.logits / tau)

    return pf


def prototype_prototype(tau: float = 1.0, kappa: float | None = None) -> Term:
    """pp. `kappa` is the scale of cosine logits; None: products of the prototypes without scaling."""

    def pp(view: View) -> Tensor:
        p = view.params[PROTOTYPES]
        products = p @ p.T if kappa is None else kappa * (n := F.normalize(p, dim=1)) @ n.T
        return F.cross_entropy(products / tau, torch.arange(len(p), device=p.device))

    return pp
