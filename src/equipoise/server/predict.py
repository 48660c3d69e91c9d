"""How the merged thing predicts.

Predict: (view, merged) → probabilities [N, C], where the view says what models see
parameter-average     softmax(logits of the merged model)
probability-ensemble  Σ_k (n_k / n)·softmax(logits_k)
logit-ensemble        softmax(Σ_k (n_k / n)·logits_k)

A way to predict that needs something of the clients' own samples asks one question (`@asks`); every client answers it
as a task, and the view has the answers. What it makes of clients alone, whatever the samples, it makes through
`view.once`: a model that leaves its run keeps the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, Question, State
from equipoise.models.classifier import ModelOutput

Outputs = Callable[[State], ModelOutput]
FromClients = TypeVar("FromClients", Tensor, State)


class Once(Protocol):
    def __call__(self, name: str, make: Callable[[], FromClients], /) -> FromClients: ...


def each_time(name: str, make: Callable[[], FromClients]) -> FromClients:
    """Makes it anew: right while clients still train."""
    return make()


@dataclass(frozen=True)
class ServerView:
    """What a server can learn: what models say of the samples to classify, and what clients answered."""

    outputs: Outputs
    """What a model says of the samples that are to be classified."""
    noise: Outputs
    """What a model says of samples without content, which the server draws itself."""
    answers: Mapping[int, State] = field(default_factory=dict)
    """Client → its answer to the question that this way to predict asks."""
    once: Once = each_time
    """(name, how to make it) → what depends on the clients alone, not on the samples that are to be classified."""


@dataclass(frozen=True)
class Merged:
    """What the server has after a merge: its model, what it sends beside it, and the clients it was made from."""

    model: State
    clients: Sequence[ClientUpdate]
    broadcast: State = field(default_factory=dict)


Predict = Callable[[ServerView, Merged], Tensor]


def asks(summary: str, through: Literal["own", "all", "merged", "common"]) -> Callable[[Predict], Predict]:
    """Marks a way to predict that asks the clients a question."""

    def mark(predict: Predict) -> Predict:
        predict.question = Question(summary, through)  # type: ignore[attr-defined]
        return predict

    return mark


def question_of(predict: Predict) -> Question | None:
    return getattr(predict, "question", None)


def parameter_average(view: ServerView, merged: Merged) -> Tensor:
    return view.outputs(merged.model).logits.softmax(1)


def probability_ensemble(view: ServerView, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: view.outputs(client.model).logits.softmax(1))


def logit_ensemble(view: ServerView, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: view.outputs(client.model).logits).softmax(1)


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
