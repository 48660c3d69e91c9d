"""Corrections of a client's drift, by one number beside every weight that the client keeps between its tasks.

control   Σ ⟨c − c_k, w⟩                     c, what the server sent, is 0 before its first merge; SCAFFOLD, 2020, eq. 3
dynamic   (α/2)·‖w − w_t‖² − ⟨h_k, w⟩        w_t, what the server sent; FedDyn, 2021, eq. 1

Sums run over the weights that the client keeps a number for.
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.objective.compose import Term, View

CONTROL, OWN_CONTROL, OWN_GRADIENT = "c/", "c_k/", "h_k/"
"""What c, c_k and h_k are called, before the name of their weight."""


def control(view: View) -> Tensor:
    found = []
    for name, c_k in _kept(view, OWN_CONTROL).items():
        c = view.received.get(CONTROL + name, c_k.new_zeros(()))
        found.append(((c - c_k) * view.params[name]).sum())
    return torch.stack(found).sum()


def dynamic(alpha: float) -> Term:
    def align(view: View) -> Tensor:
        found = []
        for name, h_k in _kept(view, OWN_GRADIENT).items():
            w, w_t = view.params[name], view.received[name]
            found.append(alpha / 2 * (w - w_t).square().sum() - (h_k * w).sum())
        return torch.stack(found).sum()

    return align


def _kept(view: View, prefix: str) -> dict[str, Tensor]:
    """In the order of the model: that of what was kept may change on its way, and a sum with it."""
    return {name: view.received[prefix + name] for name in view.params if prefix + name in view.received}
