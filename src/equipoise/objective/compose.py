"""An objective: named base terms and at most one alignment term, over one forward pass.

    L_b = Σ base terms        L_a = align

Terms are pure functions of a `View`. They never touch a module, so the same code serves one client at a time and
many clients along a leading axis (torch.func).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.core.values import Losses, State
from equipoise.models.classifier import Seen


@dataclass(frozen=True)
class View:
    """All a term may look at: features [B, D], logits [B, C], labels [B], the weights, and what the server sent."""

    features: Tensor
    logits: Tensor
    labels: Tensor
    params: State
    received: State


@dataclass(frozen=True)
class Net:
    """A network as a function, beside the weights it uses."""

    forward: Callable[[Tensor], Seen]
    params: State


Term = Callable[[View], Tensor]
Objective = Callable[[Net, Tensor, Tensor, State], Losses]


def objective(base: Mapping[str, Term], align: Term | None = None) -> Objective:
    """(net, images, labels, received) → losses; `received` is what the server sent down."""

    def losses(net: Net, images: Tensor, labels: Tensor, received: State) -> Losses:
        seen = net.forward(images)
        view = View(seen.features, seen.logits, labels, net.params, received)
        parts = {name: term(view) for name, term in base.items()}
        total = torch.stack(list(parts.values())).sum()
        hit = (seen.logits.detach().argmax(1) == labels).float().mean()
        return Losses(total, align(view) if align else None, parts, hit)

    return losses
