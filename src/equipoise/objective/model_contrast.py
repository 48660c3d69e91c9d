"""Contrast between models: features like those of the model that was sent, unlike those of the client's last one.

    mean_i −log( e^{s_i/τ} / (e^{s_i/τ} + e^{p_i/τ}) )
    s = cos(z, z of the model sent)        p = cos(z, z of the client's last model)

It is log 2 where both models are the same. Neither of them is trained: they look at the batch in evaluation mode.
Source: Li et al., "Model-Contrastive Federated Learning", 2021, eq. 3.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from equipoise.objective.compose import Term, View

PREVIOUS = "previous/"
"""What the weights of the client's last model are called, before their own names."""


def model_contrast(tau: float) -> Term:
    def align(view: View) -> Tensor:
        sent = view.with_weights(view.received).features
        last = view.with_weights(_previous(view)).features
        s, p = (F.cosine_similarity(view.features, other) for other in (sent, last))
        return view.mean(F.softplus((p - s) / tau))

    return align


def _previous(view: View) -> dict[str, Tensor]:
    return {name.removeprefix(PREVIOUS): w for name, w in view.received.items() if name.startswith(PREVIOUS)}
