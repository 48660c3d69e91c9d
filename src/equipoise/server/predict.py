"""How the merged thing predicts.

Predict: (outputs, merged) → probabilities [N, C], where outputs(state) are the logits [N, C] of a model
model                 softmax(logits of the merged model)
probability_ensemble  Σ_k (n_k / n)·softmax(logits_k)
logit_ensemble        softmax(Σ_k (n_k / n)·logits_k)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State

Outputs = Callable[[State], Tensor]


@dataclass(frozen=True)
class Merged:
    """What the server has after a merge: its model, and the clients it was made from."""

    model: State
    clients: Sequence[ClientUpdate]


Predict = Callable[[Outputs, Merged], Tensor]


def model(outputs: Outputs, merged: Merged) -> Tensor:
    return outputs(merged.model).softmax(1)


def probability_ensemble(outputs: Outputs, merged: Merged) -> Tensor:
    return _weighted(merged, lambda client: outputs(client.model).softmax(1))


def logit_ensemble(outputs: Outputs, merged: Merged) -> Tensor:
    return _weighted(merged, lambda client: outputs(client.model)).softmax(1)


def _weighted(merged: Merged, answer: Callable[[ClientUpdate], Tensor]) -> Tensor:
    clients = sorted(merged.clients, key=lambda client: client.client)
    total = sum(client.samples for client in clients)
    return torch.stack([answer(client) * (client.samples / total) for client in clients]).sum(0)
