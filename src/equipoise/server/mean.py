"""The mean of the clients, weighted by their samples.

    w   ← Σ_k (n_k / n)·w_k                          weights and BatchNorm statistics alike; counters take the largest
    e_i ← Σ_{k holds i} n_k·e_ki / Σ_{k holds i} n_k   rows of a table that clients hold in part

Sums run in float64 over clients in the order of their numbers, so the result does not depend on who answered first;
many small tensors are added at once, large ones one by one.
Source: McMahan et al., "Communication-Efficient Learning", 2017, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from equipoise.core.values import ClientUpdate, State
from equipoise.server.merge import ServerState

AT_ONCE = 2**18
"""Largest number of elements that are added in one pass."""


def mean(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    return replace(state, model=weighted_mean(updates, state.model))


def client_mean(updates: Sequence[ClientUpdate], before: State) -> State:
    """The unweighted mean: all clients have equal weight, however many samples they have."""
    return weighted_mean([replace(update, samples=1) for update in updates], before)


def weighted_mean(updates: Sequence[ClientUpdate], before: State | None = None) -> State:
    """The mean weighted by samples. Rows that no client holds are taken from `before`, where the clients started."""
    ordered = sorted(updates, key=lambda update: update.client)
    total = sum(update.samples for update in ordered)
    shares = [update.samples / total for update in ordered]
    return {
        name: _row_mean(ordered, shares, name, before[name])
        if before is not None and name in ordered[0].rows
        else _mean([update.model[name] for update in ordered], shares)
        for name in ordered[0].model
    }


def _row_mean(updates: Sequence[ClientUpdate], shares: list[float], name: str, before: Tensor) -> Tensor:
    """Every row averaged over the clients that hold it."""
    total = torch.zeros_like(before, dtype=torch.float64)
    weight = torch.zeros(len(before), dtype=torch.float64)
    for update, share in zip(updates, shares, strict=True):
        rows = update.rows[name]
        total.index_add_(0, rows, share * update.model[name].double())
        weight.index_add_(0, rows, torch.full((len(rows),), share, dtype=torch.float64))
    touched = weight > 0
    after = before.clone()
    after[touched] = (total[touched] / weight[touched].view(-1, *[1] * (before.ndim - 1))).to(before.dtype)
    return after


def _mean(tensors: list[Tensor], shares: list[float]) -> Tensor:
    first = tensors[0]
    if not first.is_floating_point():
        return torch.stack(tensors).amax(0)
    result, weights = torch.zeros_like(first, dtype=torch.float64), torch.tensor(shares, dtype=torch.float64)
    size = AT_ONCE // max(1, first.numel())
    if size < 2:
        for tensor, share in zip(tensors, shares, strict=True):
            result.add_(tensor, alpha=share)
        return result.to(first.dtype)
    for start in range(0, len(tensors), size):
        chunk = torch.stack(tensors[start : start + size]).double()
        result += torch.tensordot(weights[start : start + size], chunk, dims=1)
    return result.to(first.dtype)
