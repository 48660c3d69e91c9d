"""FedNova's merge: the mean of updates that are first scaled to a common length.

    w ← w + a·Σ_k (n_k/n)·(w_k − w)/a_k        a = Σ_k (n_k/n)·a_k

Client k reports a_k: how far it moves under a gradient of 1. The result is the mean of w + (a/a_k)·(w_k − w); if all
a_k are equal, it is the mean of the clients. BatchNorm statistics are averaged unscaled.
Source: Wang et al., "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from equipoise.core.values import ClientUpdate, State
from equipoise.server.mean import weighted_mean
from equipoise.server.merge import ServerState
from equipoise.server.optimise import trainable
from equipoise.server.predict import shares

REACH = "reach"
"""The name of a_k in a report."""


def normalised(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    ordered = sorted(updates, key=lambda update: update.client)
    each = [update.own.report[REACH].item() for update in ordered]
    a = sum(share * a_k for share, a_k in zip(shares(ordered), each, strict=True))
    scaled = [_scaled(state.model, update, a / a_k) for update, a_k in zip(ordered, each, strict=True)]
    return replace(state, model=weighted_mean(scaled, state.model))


def _scaled(before: State, update: ClientUpdate, factor: float) -> ClientUpdate:
    """The update with the client's move scaled by `factor`; of tables, the rows that it holds."""
    start = {name: before[name][update.rows[name]] if name in update.rows else before[name] for name in update.model}
    moved = {name: start[name] + factor * (update.model[name] - start[name]) for name in trainable(update.model)}
    return replace(update, model={**update.model, **moved})
