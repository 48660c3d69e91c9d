"""The mean of the clients, weighted by their samples.

    w ← Σ_k (n_k / n)·w_k        over weights and BatchNorm statistics alike; counters take the largest

Sums run in float64 and in client order, so the result does not depend on who answered first.
Source: McMahan et al., "Communication-Efficient Learning", 2017, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State
from equipoise.server.merge import ServerState


def mean(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    return replace(state, model=weighted_mean(updates))


def weighted_mean(updates: Sequence[ClientUpdate]) -> State:
    ordered = sorted(updates, key=lambda update: update.client)
    total = sum(update.samples for update in ordered)
    shares = [update.samples / total for update in ordered]
    return {name: _mean([update.model[name] for update in ordered], shares) for name in ordered[0].model}


def _mean(tensors: list[Tensor], shares: list[float]) -> Tensor:
    first = tensors[0]
    if not first.is_floating_point():
        return torch.stack(tensors).amax(0)
    result = torch.zeros_like(first, dtype=torch.float64)
    for tensor, share in zip(tensors, shares, strict=True):
        result += share * tensor.double()
    return result.to(first.dtype)
