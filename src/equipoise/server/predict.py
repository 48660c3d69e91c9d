"""How the merged thing predicts.

Predict: (view, merged) → probabilities [N, C], where the view says what models see
parameter-average     softmax(logits of the merged model)
probability-ensemble  Σ_k (n_k / n)·softmax(logits_k)
logit-ensemble        softmax(Σ_k (n_k / n)·logits_k)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State
from equipoise.models.classifier import Seen
from equipoise.models.look import Summary

Outputs = Callable[[State], Seen]
COMMON: State = MappingProxyType({})
"""The state of the encoder that nobody trains: random filters that everybody draws alike from the run's seed."""


@dataclass(frozen=True)
class ServerView:
    """What a server can learn: its answers are for `asked`, and of a client's own images it gets summaries only."""

    asked: Outputs
    """What a model sees in the images that are to be classified."""
    noise: Outputs
    """What a model sees in images without content, which the server draws itself."""
    ask: Callable[[int, Sequence[State], Summary], State]
    """(client, models sent to it, summary) → what the client makes of its own training images."""
    recalibrated: Callable[[State], State]
    """A model with its BatchNorm statistics measured anew by the clients."""


@dataclass(frozen=True)
class Merged:
    """What the server has after a merge: its model, what it sends beside it, and the clients it was made from."""

    model: State
    clients: Sequence[ClientUpdate]
    broadcast: State = field(default_factory=dict)


Predict = Callable[[ServerView, Merged], Tensor]


def parameter_average(view: ServerView, merged: Merged) -> Tensor:
    return view.asked(merged.model).logits.softmax(1)


def probability_ensemble(view: ServerView, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: view.asked(client.model).logits.softmax(1))


def logit_ensemble(view: ServerView, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: view.asked(client.model).logits).softmax(1)


def ordered(merged: Merged) -> list[ClientUpdate]:
    """The clients by number, so that no sum depends on who answered first."""
    return sorted(merged.clients, key=lambda client: client.client)


def shares(clients: Sequence[ClientUpdate]) -> list[float]:
    """n_k / n."""
    total = sum(client.samples for client in clients)
    return [client.samples / total for client in clients]


def weighted(merged: Merged, answer: Callable[[ClientUpdate], Tensor]) -> Tensor:
    """Σ_k (n_k / n)·answer_k, in client order."""
    clients = ordered(merged)
    return torch.stack([answer(client) * share for client, share in zip(clients, shares(clients), strict=True)]).sum(0)
