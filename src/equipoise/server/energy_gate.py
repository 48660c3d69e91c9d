"""Each client predicts the classes it owns, weighted by how much the sample resembles its own samples.

    e_k(x) = log Σ_{c owned} exp logit_kc(x)        ẽ_k = (e_k − m_k) / d_k
    p(x) = Σ_k g_k(x)·softmax over owned classes of logits_k(x)        g_k ∝ (n_k / n)·exp ẽ_k(x)

m_k and d_k are mean and deviation of e_k over the client's own training samples: two more numbers in its one upload.
Source: ours; the energy score is that of Liu et al., "Energy-based Out-of-distribution Detection", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from equipoise.client.own import OwnSamples
from equipoise.core.values import State
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import Merged, ServerView, asks, ordered, shares


@asks("energies", through="own")
def energy_gate(view: ServerView, merged: Merged) -> Tensor:
    clients = ordered(merged)
    logits = [owned_logits(client.counts, view.outputs(client.model)) for client in clients]
    heard = [standardised(logit, view.answers[client.client]) for client, logit in zip(clients, logits, strict=True)]
    gates = gated(torch.stack(heard), shares(clients))
    return (gates[:, :, None] * torch.stack(logits).softmax(2)).sum(0)


def owned_logits(counts: Sequence[int] | Tensor, output: ModelOutput) -> Tensor:
    """Logits [N, C] with −∞ for the classes that the client has no sample of."""
    return output.logits.masked_fill(torch.as_tensor(counts) == 0, -torch.inf)


def standardised(logits: Tensor, answer: State) -> Tensor:
    """ẽ_k [N]."""
    return (logits.logsumexp(1) - answer["mean"]) / answer["deviation"]


def energies(own: OwnSamples) -> State:
    """m_k and d_k."""
    return spread(owned_logits(own.counts, own.outputs[0]).logsumexp(1))


def spread(score: Tensor) -> dict[str, Tensor]:
    """Mean and deviation of a score over a client's own samples; the deviation is 1 for a constant score."""
    deviation = score.std(correction=0)
    return {"mean": score.mean(), "deviation": torch.where(deviation > 0, deviation, 1.0)}


def gated(scores: Tensor, weights: Sequence[float]) -> Tensor:
    """g_k ∝ weight_k·exp(score_k) over the clients [K, N]."""
    return (scores + torch.tensor(weights).log()[:, None]).softmax(0)
