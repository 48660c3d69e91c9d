"""Classification terms.

cls        mean_i CE(softmax(logits_i), y_i)
balanced   mean_i CE(softmax_c(logits_ic + γ·log n_c), y_i)        n_c: the client's images of class c
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.objective.compose import Objective, Term, View, objective


def cross_entropy(view: View) -> Tensor:
    """cls."""
    return view.cross_entropy(view.logits)


def plain_loss() -> Objective:
    """The objective of a method that adds nothing to classification."""
    return objective({"cls": cross_entropy})


def balanced_cross_entropy(gamma: float) -> Term:
    """Cross-entropy shifted by class frequencies; classes without an image on this client are left out."""

    def cls(view: View) -> Tensor:
        counts = torch.as_tensor(view.moment.counts).to(view.logits.dtype)
        shift = torch.where(counts > 0, gamma * counts.clamp_min(1).log(), -torch.inf)
        return view.cross_entropy(view.logits + shift)

    return cls
