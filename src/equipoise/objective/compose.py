"""An objective: named base terms and at most one alignment term, over one forward pass.

    L_b = Σ base terms        L_a = align

Terms are pure functions of a `View`. They never touch a module, so the same code serves one client at a time and
many clients along a leading axis (torch.func).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from equipoise.core.values import Losses, Moment, State
from equipoise.models.classifier import Seen


@dataclass(frozen=True)
class View:
    """All a term may look at: features [B, D], logits [B, C], labels [B], weights, what the server sent, and when."""

    features: Tensor
    logits: Tensor
    labels: Tensor
    params: State
    received: State
    moment: Moment


@dataclass(frozen=True)
class Net:
    """A network as a function, beside the weights it uses."""

    forward: Callable[..., Any]
    params: State


@dataclass(frozen=True)
class Batch:
    """Normalised images [B, 3, H, W] and their labels [B]; with two views, 2B of each; and what was remembered."""

    images: Tensor
    labels: Tensor
    recalled: State = field(default_factory=dict)


Term = Callable[[View], Tensor]
Objective = Callable[[Net, Any, State, Moment], Losses]
"""(network, batch, what the server sent, when) → losses; the batch is what the task's clients learn from."""
Remember = Callable[[View], State]
"""What the objective wants to see again at the client's next step, beside what the server sent."""


def objective(base: Mapping[str, Term], align: Term | None = None, remember: Remember | None = None) -> Objective:
    """An objective on images."""

    def losses(net: Net, batch: Batch, received: State, moment: Moment) -> Losses:
        seen: Seen = net.forward(batch.images)
        labels = batch.labels
        view = View(seen.features, seen.logits, labels, net.params, {**received, **batch.recalled}, moment)
        parts = {name: term(view) for name, term in base.items()}
        total = torch.stack(list(parts.values())).sum()
        hit = (seen.logits.detach().argmax(1) == labels).float().mean()
        return Losses(total, align(view) if align else None, parts, hit, remember(view) if remember else {})

    return losses


def staged(first: Objective, then: Objective, cycle: int, epochs: int) -> Objective:
    """In the first `epochs` of every `cycle` epochs of the run one objective, then the other."""

    def losses(net: Net, batch: Any, received: State, moment: Moment) -> Losses:
        chosen = first if moment.epoch % cycle < epochs else then
        return chosen(net, batch, received, moment)

    return losses
