"""Server optimisers: the mean update serves as a gradient for an optimiser step on the server.

    Δ = Σ_k (n_k / n)·w_k − w
    momentum:  m ← β·m + Δ                                    w ← w + η·s(p)·m
    adam:      m ← β₁·m + (1−β₁)·Δ    v ← β₂·v + (1−β₂)·Δ²    w ← w + η·s(p)·m / (√v + τ)
    yogi:      m ← β₁·m + (1−β₁)·Δ    v ← v − (1−β₂)·Δ²·sign(v − Δ²)    w ← w + η·s(p)·m / (√v + τ)

Only trainable weights take the step. Of tables that clients hold in part, only rows that some client held take it: the
other rows and their buffers do not change. BatchNorm statistics are averaged: an adaptive step can drive a variance
below zero, a known cause of NaN.
m and v start at zero; s is 1 unless a schedule is asked for.
Source: Hsu et al., "Measuring the Effects of Non-Identical Data Distribution", 2019; Reddi et al., "Adaptive Federated
Optimization", 2021, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import EllipsisType

import torch
from torch import Tensor

from equipoise.balance.schedule import schedule
from equipoise.config.choices import Schedule
from equipoise.core.values import ClientUpdate, State
from equipoise.models.heads import ANCHORS
from equipoise.server.mean import weighted_mean
from equipoise.server.merge import Merge, ServerState

Step = Callable[[Tensor, dict[str, Tensor]], tuple[Tensor, dict[str, Tensor]]]
"""(Δ, buffers of one weight) → (what is added to the weight, its next buffers)."""


def momentum(lr: float, beta: float, goes: Schedule = "none") -> Merge:
    def step(delta: Tensor, buffers: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        m = beta * buffers.get("m", torch.zeros_like(delta)) + delta
        return lr * m, {"m": m}

    return _stepping(step, goes)


def adam(lr: float, beta1: float, beta2: float, tau: float, goes: Schedule = "none") -> Merge:
    def second(v: Tensor, square: Tensor) -> Tensor:
        return beta2 * v + (1 - beta2) * square

    return _adaptive(second, lr, beta1, tau, goes)


def yogi(lr: float, beta1: float, beta2: float, tau: float, goes: Schedule = "none") -> Merge:
    def second(v: Tensor, square: Tensor) -> Tensor:
        return v - (1 - beta2) * square * torch.sign(v - square)

    return _adaptive(second, lr, beta1, tau, goes)


def _adaptive(second: Callable[[Tensor, Tensor], Tensor], lr: float, beta1: float, tau: float, goes: Schedule) -> Merge:
    """`second`: (v, Δ²) → the next v."""

    def step(delta: Tensor, buffers: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        zero = torch.zeros_like(delta)
        m = beta1 * buffers.get("m", zero) + (1 - beta1) * delta
        v = second(buffers.get("v", zero), delta.square())
        return lr * m / (v.sqrt() + tau), {"m": m, "v": v}

    return _stepping(step, goes)


def _stepping(step: Step, goes: Schedule) -> Merge:
    def merge(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        mean = weighted_mean(updates, state.model)
        model, memory, factor = dict(mean), dict(state.memory), schedule(goes, state.progress)
        for name in trainable(mean):
            before, rows = state.model[name], _held(updates, name)
            zero = before.new_zeros(()).expand_as(before)
            buffers = {key: memory[f"{key}/{name}"][rows] for key in ("m", "v") if f"{key}/{name}" in memory}
            move, buffers = step(mean[name][rows] - before[rows], buffers)
            model[name] = _with(before, rows, before[rows] + move * factor)
            for key, buffer in buffers.items():
                memory[f"{key}/{name}"] = _with(memory.get(f"{key}/{name}", zero), rows, buffer)
        return replace(state, model=model, memory=memory)

    return merge


def _held(updates: Sequence[ClientUpdate], name: str) -> Tensor | EllipsisType:
    """The rows of a table that some client held; all rows of weights that clients hold whole."""
    if name not in updates[0].rows:
        return ...
    return torch.unique(torch.cat([update.rows[name] for update in updates]))  # type: ignore[no-any-return]


def _with(tensor: Tensor, rows: Tensor | EllipsisType, values: Tensor) -> Tensor:
    return values if isinstance(rows, EllipsisType) else tensor.index_copy(0, rows, values)


def trainable(model: State) -> list[str]:
    """Weights, without BatchNorm's running statistics and counters, and without fixed anchors."""
    buffers = ("running_mean", "running_var", "num_batches_tracked", ANCHORS)
    return [name for name in model if not name.endswith(buffers)]
