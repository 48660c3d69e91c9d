"""Fixed features decide which clients know a sample; those clients classify it.

    q(x) = softmax(T·(φ(x)·W + bias))          W in closed form from every client's sums of φ, as in `ridge`
    g_k(x) = Σ_c q_c(x)·n_kc/n_c               p(x) ∝ q(x) · Σ_k g_k(x)·softmax over owned classes of logits_k(x)

φ are fixed features that everyone computes alike (`server.common`: random filters of the run's seed, or patches), so
the sums travel in the one upload, and q does not depend on how the data is split. `common` predicts with q alone,
without the trained clients.
T = 10, chosen on validation.
Source: ours.
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.client.own import COMMON, OwnSamples
from equipoise.core.values import State
from equipoise.server.energy_gate import owned_logits
from equipoise.server.predict import Merged, ServerView, asks, ordered
from equipoise.server.ridge import applied, client_sums, solved

TEMPERATURE = 10.0


@asks("common-sums", through="common")
def common_gate(view: ServerView, merged: Merged) -> Tensor:
    q = common(view, merged)
    joint = q * experts(view, merged, q)
    return joint / joint.sum(1, keepdim=True).clamp_min(torch.finfo(joint.dtype).tiny)


def experts(view: ServerView, merged: Merged, q: Tensor) -> Tensor:
    """Σ_k g_k·softmax over owned classes of logits_k [N, C]."""
    clients = ordered(merged)
    counts = torch.tensor([client.counts for client in clients], dtype=q.dtype)  # [K, C]
    gates = (counts / counts.sum(0).clamp_min(1)) @ q.T  # [K, N]
    answers = [owned_logits(client.counts, view.outputs(client.model)).softmax(1) for client in clients]
    found: Tensor = (gates[:, :, None] * torch.stack(answers)).sum(0)
    return found


@asks("common-sums", through="common")
def common(view: ServerView, merged: Merged) -> Tensor:
    head = view.once("head", lambda: solved([view.answers[client.client] for client in ordered(merged)]))
    return (TEMPERATURE * applied(head, view.outputs(COMMON).features)).softmax(1).float()


def common_sums(own: OwnSamples) -> State:
    return client_sums(own.outputs[0].features, own)
