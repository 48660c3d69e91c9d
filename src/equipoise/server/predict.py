"""Predictors: how the server predicts after a merge.

Predict: (view, merged) → probabilities [N, C]; the view gives models' outputs on the samples
parameter-average     softmax(logits of the merged model)
probability-ensemble  Σ_k (n_k / n)·softmax(logits_k)
logit-ensemble        softmax(Σ_k (n_k / n)·logits_k)

A predictor that needs information about the clients' own samples asks one question (`@asks`); every client answers it
as a task, and the view holds the answers. Results that depend on the clients alone, not on the samples to classify, are
computed through `view.once`, so that an exported model keeps them.
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
    """Computes the result again at each call, as is right while clients still train."""
    return make()


@dataclass(frozen=True)
class ServerView:
    """What the server can see: models' outputs on the samples to classify, and clients' answers."""

    outputs: Outputs
    """A model's outputs on the samples to classify."""
    noise: Outputs
    """A model's outputs on pure noise, which the server draws itself."""
    answers: Mapping[int, State] = field(default_factory=dict)
    """Client → its answer to the predictor's question."""
    once: Once = each_time
    """(name, function) → the function's result, which depends on the clients alone, not on the samples to classify."""


@dataclass(frozen=True)
class Merged:
    """What the server has after a merge: its model, what it sends beside it, and the clients it was made from."""

    model: State
    clients: Sequence[ClientUpdate]
    broadcast: State = field(default_factory=dict)


Predict = Callable[[ServerView, Merged], Tensor]


def asks(summary: str, through: Literal["own", "all", "merged", "common"]) -> Callable[[Predict], Predict]:
    """Marks a predictor that asks the clients a question."""

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
    """The clients in order of their numbers, so that no sum depends on who answered first."""
    return sorted(merged.clients, key=lambda client: client.client)


def shares(clients: Sequence[ClientUpdate]) -> list[float]:
    """n_k / n."""
    total = sum(client.samples for client in clients)
    return [client.samples / total for client in clients]


def weighted(merged: Merged, answer: Callable[[ClientUpdate], Tensor]) -> Tensor:
    """Σ_k (n_k / n)·answer_k, in client order."""
    clients = ordered(merged)
    return torch.stack([answer(client) * share for client, share in zip(clients, shares(clients), strict=True)]).sum(0)
