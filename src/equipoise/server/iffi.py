"""Features weighted by how informative each client finds the sample, then compared with the merged prototypes.

    u_k(x) = 1 − cos(f_k(x), f_k(noise))      F(x) = Σ_k u_k(x)·f_k(x)      softmax(F/‖F‖ · P̄ᵀ)
    iffi-published   the same with ū(x) = mean_k u_k(x) for every client: it cancels, and F is the plain sum

f_k(noise) is a client's mean feature of pure noise. Source: FAFI, 2025; the second form is that of its code.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.models.heads import PROTOTYPES
from equipoise.server.predict import Merged, ServerView, ordered


def iffi(view: ServerView, merged: Merged) -> Tensor:
    features, u = _informed(view, merged)
    return _compared(u[:, :, None] * features, merged)


def iffi_published(view: ServerView, merged: Merged) -> Tensor:
    features, u = _informed(view, merged)
    return _compared(u.mean(0)[None, :, None] * features, merged)


def _informed(view: ServerView, merged: Merged) -> tuple[Tensor, Tensor]:
    """Features [K, N, D] and u [K, N]."""
    states = [client.model for client in ordered(merged)]
    features = torch.stack([view.outputs(state).features for state in states])
    noise = view.once("noise", lambda: torch.stack([view.noise(state).features.mean(0) for state in states]))
    return features, 1 - F.cosine_similarity(features, noise[:, None], dim=2)


def _compared(features: Tensor, merged: Merged) -> Tensor:
    return (F.normalize(features.sum(0), dim=1) @ merged.model[PROTOTYPES].T).softmax(1)
