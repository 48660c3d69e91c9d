"""Class means of features, and prediction by the nearest mean.

    m_c = Σ_k Σ_{i of k, y_i = c} f_k(x_i) / n_c        F(x) = Σ_k (n_k / n)·f_k(x)        softmax_c(−‖F − m_c‖² / D)

A class that no client has is never predicted. Source: FedProto, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from equipoise.client.own import OwnSamples
from equipoise.core.values import ClientUpdate, State
from equipoise.objective.align import COUNTS, MEANS
from equipoise.server.merge import ServerState
from equipoise.server.predict import Merged, ServerView, weighted


def class_sums(own: OwnSamples) -> State:
    """A client's report: sums of features [C, D] and sample counts [C] of each class."""
    (seen,), labels = own.outputs, own.labels
    features, n_classes = seen.features, seen.logits.shape[1]
    sums = torch.zeros(n_classes, features.shape[1]).index_add_(0, labels, features)
    return {"sums": sums, "counts": torch.bincount(labels, minlength=n_classes).to(sums.dtype)}


def merge_means(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    report = [update.own.report for update in sorted(updates, key=lambda update: update.client)]
    sums, counts = (torch.stack([one[name].double() for one in report]).sum(0) for name in ("sums", "counts"))
    means = sums / counts.clamp_min(1)[:, None]
    return replace(state, broadcast={**state.broadcast, MEANS: means.float(), COUNTS: counts.float()})


def nearest_mean(view: ServerView, merged: Merged) -> Tensor:
    features = weighted(merged, lambda client: view.outputs(client.model).features)
    distance = (features[:, None] - merged.broadcast[MEANS]).square().mean(2)
    return (-distance).masked_fill(merged.broadcast[COUNTS] == 0, -torch.inf).softmax(1)
