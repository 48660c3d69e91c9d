"""An objective: named base terms and at most one alignment term, over one forward pass.

    L_b = Σ base terms        L_a = align

Terms are pure functions of a `View`. They never touch a module, so the same code serves one client at a time and
many clients along a leading axis (torch.func).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.core.values import Losses, Moment, State
from equipoise.models.classifier import ModelOutput


def _alone(weights: State, *inputs: Tensor) -> NoReturn:
    raise NotImplementedError("nothing says here what the network would say with other weights")


@dataclass(frozen=True)
class View:
    """All a term may look at: features [B, D], logits [B, C], labels [B], weights, what the server sent, and when.

    share: each sample's part in a mean over the batch, 0 for what fills up a shorter batch; None: all count alike.
    """

    features: Tensor
    logits: Tensor
    labels: Tensor
    params: State
    received: State
    moment: Moment
    share: Tensor | None = None
    with_weights: Callable[[State], ModelOutput] = _alone
    """What the network says of the same batch with other weights; no gradient flows there."""

    def mean(self, each: Tensor) -> Tensor:
        """Of one number per sample."""
        return each.mean() if self.share is None else (each * self.share).sum()

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """mean_i CE(softmax(logits_i), y_i)"""
        if self.share is None:
            return F.cross_entropy(logits, self.labels)
        return self.mean(F.cross_entropy(logits, self.labels, reduction="none"))


@dataclass(frozen=True)
class Net:
    """A network as a function, beside the weights it uses."""

    forward: Callable[..., Any]
    params: State
    with_weights: Callable[..., Any] = _alone
    """(other weights and buffers, inputs) → what the network says with them: no gradients, nothing is touched."""


class Batch(NamedTuple):
    """Normalised images [B, 3, H, W], their labels [B] and shares; with two views, 2B of each; and what was remembered.

    Shares as in `View`.
    """

    images: Tensor
    labels: Tensor
    share: Tensor | None = None
    recalled: State = MappingProxyType({})


Term = Callable[[View], Tensor]
Objective = Callable[[Net, Any, State, Moment], Losses]
"""(network, batch, what the server sent, when) → losses; the batch is what the task's clients learn from."""
Remember = Callable[[View], State]
"""What the objective wants to see again at the client's next step, beside what the server sent."""


def objective(base: Mapping[str, Term], align: Term | None = None, remember: Remember | None = None) -> Objective:
    """An objective on images."""

    def losses(net: Net, batch: Batch, received: State, moment: Moment) -> Losses:
        seen: ModelOutput = net.forward(batch.images)
        labels, known = batch.labels, {**received, **batch.recalled}
        other = partial(_of_batch, net, batch)
        view = View(seen.features, seen.logits, labels, net.params, known, moment, batch.share, other)
        parts = {name: term(view) for name, term in base.items()}
        total = torch.stack(list(parts.values())).sum()
        hit = view.mean((seen.logits.detach().argmax(1) == labels).float())
        return Losses(total, align(view) if align else None, parts, hit, remember(view) if remember else {})

    return losses


def _of_batch(net: Net, batch: Batch, weights: State) -> ModelOutput:
    found: ModelOutput = net.with_weights(weights, batch.images)
    return found


def staged(first: Objective, then: Objective, cycle: int, epochs: int) -> Objective:
    """In the first `epochs` of every `cycle` epochs of the run one objective, then the other."""

    def losses(net: Net, batch: Any, received: State, moment: Moment) -> Losses:
        chosen = first if moment.epoch % cycle < epochs else then
        return chosen(net, batch, received, moment)

    return losses
