"""A second exchange: trained features join the fixed ones, and the server solves one head for both.

    x = [φ, f_1/‖f_1‖, …, f_K/‖f_K‖]        client k sends G_k, S_k        argmax of x·W, W as in `ridge`

φ are the common fixed features. Every feature is standardised, and trained ones then count √β times: encoders know
their own training images too well, so that their sums promise more than they keep. β = 0.1, chosen on validation.
This is not one-shot. Source: ours.
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.client.own import COMMON, OwnSamples
from equipoise.core.values import State
from equipoise.server.predict import Merged, ServerView, asks, ordered
from equipoise.server.ridge import applied, concatenated, solved, sums

BETA = 0.1


@asks("common-joint-sums", through="all")
def common_exchange(view: ServerView, merged: Merged) -> Tensor:
    clients, fixed = ordered(merged), view.outputs(COMMON).features
    trained = concatenated([view.outputs(client.model).features for client in clients])

    def head() -> Tensor:
        trust = torch.ones(fixed.shape[1] + trained.shape[1], dtype=torch.float64)
        trust[fixed.shape[1] :] = BETA**0.5
        return solved([view.answers[client.client] for client in clients], trust)

    return applied(view.once("head", head), torch.cat([fixed, trained], 1)).softmax(1).float()


def common_joint_sums(own: OwnSamples) -> State:
    """Sums over the fixed features and those of all clients' encoders side by side, in single precision."""
    features = torch.cat([own.common_features, concatenated([each.features for each in own.outputs])], 1)
    found = sums(features, own.labels, len(own.counts))
    return {name: tensor.float() for name, tensor in found.items()}
