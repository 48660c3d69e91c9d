"""Clients' features averaged, then compared with the merged prototypes or with the anchors.

    F(x) = Σ_k (n_k / n)·f_k(x)      z = F/‖F‖
    feature-average   softmax(z·P̄ᵀ)          anchors   softmax(z·Aᵀ)

Source: FAFI's simple feature server.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.server.predict import Merged, ServerView, weighted


def feature_average(view: ServerView, merged: Merged) -> Tensor:
    return (_direction(view, merged) @ merged.model[PROTOTYPES].T).softmax(1)


def anchors(view: ServerView, merged: Merged) -> Tensor:
    return (_direction(view, merged) @ merged.model[ANCHORS].T).softmax(1)


def _direction(view: ServerView, merged: Merged) -> Tensor:
    return F.normalize(weighted(merged, lambda client: view.outputs(client.model).features), dim=1)
