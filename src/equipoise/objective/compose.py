"""An objective: named base terms and at most one alignment term, computed from one forward pass.

    L_b = Σ base terms        L_a = align

Terms are pure functions of a `View`. They never touch a module, so the same code serves one client at a time and
many clients along a leading axis (torch.func).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor
from torch.nn import functional as F

from equipoise.core.values import Losses, Moment, State
from equipoise.models.classifier import ModelOutput


def _alone(weights: State, *inputs: Tensor) -> NoReturn:
    raise AssertionError("this view knows the network with its own weights only")


@dataclass(frozen=True)
class View:
    """The inputs of a term: features [B, D], logits [B, C], labels [B], weights, what the server sent, and progress.

    share: each sample's weight in a mean over the batch, 0 for padding; None: all samples count equally.
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
        """The mean of one number per sample."""
        return each.mean() if self.share is None else (each * self.share).sum()

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """mean_i CE(softmax(logits_i), y_i)"""
        if self.share is None:
            return F.cross_entropy(logits, self.labels)
        return self.mean(F.cross_entropy(logits, self.labels, reduction="none"))


@dataclass(frozen=True)
class Net:
    """A network as a function, with the weights that it uses."""

    forward: Callable[..., Any]
    params: State
    with_weights: Callable[..., Any] = _alone
    """(other weights and buffers, inputs) → what the network says with them: no gradients, nothing is touched."""


class Batch(NamedTuple):
    """Normalised images [B, 3, H, W], labels [B] and shares as in `View`; with two views, 2B of each.

    recalled: what the objective kept from the client's last step.
    """

    images: Tensor
    labels: Tensor
    share: Tensor | None = None
    recalled: State = MappingProxyType({})


Term = Callable[[View], Tensor]
"""A loss term: the inputs → one number."""
Objective = Callable[[Net, Any, State, Moment], Losses]
"""(network, batch, what the server sent, progress) → losses."""
Remember = Callable[[View], State]
"""What the objective keeps for the client's next step, in addition to what the server sent."""


@dataclass(frozen=True, eq=False)
class Composed:
    """An objective on images, of named terms."""

    base: Mapping[str, Term]
    align: Term | None = None
    remember: Remember | None = None

    def __call__(self, net: Net, batch: Batch, received: State, moment: Moment) -> Losses:
        seen: ModelOutput = net.forward(batch.images)
        labels, known = batch.labels, {**received, **batch.recalled}
        other = partial(_of_batch, net, batch)
        view = View(seen.features, seen.logits, labels, net.params, known, moment, batch.share, other)
        parts = {name: term(view) for name, term in self.base.items()}
        total = torch.stack(list(parts.values())).sum()
        hit = view.mean((seen.logits.detach().argmax(1) == labels).float())
        memory = self.remember(view) if self.remember else {}
        return Losses(total, self.align(view) if self.align else None, parts, hit, memory)


@dataclass(frozen=True, eq=False)
class Staged:
    """In the first `epochs` of every `cycle` epochs of the run one objective, then the other."""

    first: Objective
    then: Objective
    cycle: int
    epochs: int

    def __call__(self, net: Net, batch: Any, received: State, moment: Moment) -> Losses:
        chosen = self.first if moment.epoch % self.cycle < self.epochs else self.then
        return chosen(net, batch, received, moment)


def objective(base: Mapping[str, Term], align: Term | None = None, remember: Remember | None = None) -> Objective:
    """An objective on images."""
    return Composed(base, align, remember)


def _of_batch(net: Net, batch: Batch, weights: State) -> ModelOutput:
    found: ModelOutput = net.with_weights(weights, batch.images)
    return found


def staged(first: Objective, then: Objective, cycle: int, epochs: int) -> Objective:
    return Staged(first, then, cycle, epochs)


def with_terms(whole: Objective, terms: Mapping[str, Term], weights: Mapping[str, float]) -> Objective | None:
    """L_b + Σ_t w_t·t; None where the objective is not made of terms, or has one of that name."""
    if isinstance(whole, Staged):
        parts = [with_terms(each, terms, weights) for each in (whole.first, whole.then)]
        return None if parts[0] is None or parts[1] is None else replace(whole, first=parts[0], then=parts[1])
    if not isinstance(whole, Composed) or whole.base.keys() & terms.keys():
        return None
    return replace(whole, base={**whole.base, **{name: _times(weights[name], term) for name, term in terms.items()}})


def _times(weight: float, term: Term) -> Term:
    return lambda view: weight * term(view)
