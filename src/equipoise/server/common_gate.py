"""Whose image it is, told by features that nobody trained; what it is, told by whoever has such images.

    q(x) = softmax(T·(φ(x)·W + bias))          W in closed form from every client's sums of φ, as in `ridge`
    g_k(x) = Σ_c q_c(x)·n_kc/n_c               p(x) ∝ q(x) · Σ_k g_k(x)·softmax over owned classes of logits_k(x)

φ are fixed random filters that all know from the run's seed, so the sums travel in the one upload and q does not depend
on how the data is split. `common` answers with q alone: no trained client is heard. T = 10, chosen on validation.
Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from equipoise.core.values import State
from equipoise.models.classifier import Seen
from equipoise.server.energy_gate import owned_logits
from equipoise.server.predict import COMMON, Merged, ServerView, ordered
from equipoise.server.ridge import applied, solved, sums

TEMPERATURE = 10.0


def common_gate(view: ServerView, merged: Merged) -> Tensor:
    clients, q = ordered(merged), common(view, merged)
    counts = torch.tensor([client.counts for client in clients], dtype=q.dtype)  # [K, C]
    gates = (counts / counts.sum(0).clamp_min(1)) @ q.T  # [K, N]
    answers = [owned_logits(client, view.asked(client.model)).softmax(1) for client in clients]
    joint: Tensor = q * (gates[:, :, None] * torch.stack(answers)).sum(0)
    return joint / joint.sum(1, keepdim=True).clamp_min(torch.finfo(joint.dtype).tiny)


def common(view: ServerView, merged: Merged) -> Tensor:
    n_classes = len(merged.clients[0].counts)

    def summary(seen: Sequence[Seen], labels: Tensor) -> State:
        report = sums(seen[0].features, labels, n_classes)
        return {name: tensor.float() for name, tensor in report.items()}

    head = solved([view.ask(client.client, [COMMON], summary) for client in ordered(merged)])
    return (TEMPERATURE * applied(head, view.asked(COMMON).features)).softmax(1).float()
