"""FedDyn's merge: the mean of clients with dynamic regularisation.

    h ← h − (α/N)·Σ_{k took part} (w_k − w)        w ← mean_k w_k − h/α

h is the mean of all h_k, whoever took part: the gradient of the mean loss where clients stopped. All clients have equal
weight, as published. BatchNorm statistics are averaged.
Source: Acar et al., "Federated Learning Based on Dynamic Regularization", 2021, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from equipoise.core.values import ClientUpdate
from equipoise.server.mean import client_mean
from equipoise.server.merge import Merge, ServerState
from equipoise.server.optimise import trainable

GRADIENT = "h/"
"""Prefix of h in the server's memory, before the name of its weight."""


def dynamic_mean(alpha: float) -> Merge:
    def merge(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        mean = client_mean(updates, state.model)
        model, h = dict(mean), {}
        for name in trainable(mean):
            moved = len(updates) / state.n_clients * (mean[name] - state.model[name])
            h[name] = state.memory.get(GRADIENT + name, torch.zeros(())) - alpha * moved
            model[name] = mean[name] - h[name] / alpha
        return replace(state, model=model, memory={GRADIENT + name: each for name, each in h.items()})

    return merge
