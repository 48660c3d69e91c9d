"""How the merged thing predicts.

Predict: (outputs, merged) → probabilities [N, C], where outputs(state) are features and logits of a model
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
from equipoise.models.classifier import Seen

Outputs = Callable[[State], Seen]


@dataclass(frozen=True)
class Merged:
    """What the server has after a merge: its model, and the clients it was made from."""

    model: State
    clients: Sequence[ClientUpdate]


Predict = Callable[[Outputs, Merged], Tensor]


def model(outputs: Outputs, merged: Merged) -> Tensor:
    return outputs(merged.model).logits.softmax(1)


def probability_ensemble(outputs: Outputs, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: outputs(client.model).logits.softmax(1))


def logit_ensemble(outputs: Outputs, merged: Merged) -> Tensor:
    return weighted(merged, lambda client: outputs(client.model).logits).softmax(1)


def weighted(merged: Merged, answer: Callable[[ClientUpdate], Tensor]) -> Tensor:
    """Σ_k (n_k / n)·answer_k, in client order."""
    clients = sorted(merged.clients, key=lambda client: client.client)
    total = sum(client.samples for client in clients)
    return torch.stack([answer(client) * (client.samples / total) for client in clients]).sum(0)
