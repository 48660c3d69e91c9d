"""Control variates: how clients compute them, and how the server merges them.

    Δc_k = (w_t − w_k)/a_k − c                  a_k: how far the client moves under a gradient of 1
    w ← w + η·(mean_k w_k − w)                  c ← c + Σ_{k took part} Δc_k / N

All clients have equal weight, as published, so c is the mean of all c_k, whoever took part. BatchNorm statistics are
averaged. Weights that stay with their client have no control variate.
Source: Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging", 2020, eqs. 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from equipoise.client.finished import Finished
from equipoise.core.values import ClientUpdate, State
from equipoise.objective.drift import CONTROL
from equipoise.server.mean import client_mean
from equipoise.server.merge import Merge, ServerState
from equipoise.server.optimise import trainable


def change(done: Finished) -> State:
    """Δc_k; c is zero before the first merge.

    A weight that was frozen keeps its control variate: its client did not follow any gradient of it.
    """
    sent = [name for name in trainable(done.model) if name not in done.personal and done.has_trained(name)]
    gradient = {name: (done.start[name] - done.model[name]) / done.reach for name in sent}
    return {name: g - done.task.shared.get(CONTROL + name, torch.zeros(())) for name, g in gradient.items()}


def controlled(lr: float) -> Merge:
    def merge(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        mean = client_mean(updates, state.model)
        stepped = {name: state.model[name] + lr * (mean[name] - state.model[name]) for name in trainable(mean)}
        ordered = sorted(updates, key=lambda update: update.client)
        c = {CONTROL + name: _next(state, ordered, name) for name in ordered[0].own.report}
        return replace(state, model={**mean, **stepped}, broadcast={**state.broadcast, **c})

    return merge


def _next(state: ServerState, updates: Sequence[ClientUpdate], name: str) -> Tensor:
    changes = torch.stack([update.own.report[name].double() for update in updates]).sum(0) / state.n_clients
    before = state.broadcast.get(CONTROL + name, torch.zeros(()))
    return (before + changes).to(updates[0].own.report[name].dtype)
