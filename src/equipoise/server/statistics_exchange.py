"""A second exchange: all encoders go to every client, sums of their features come back, the server solves a head.

    x = [f_1/‖f_1‖, …, f_K/‖f_K‖]        client k sends G_k, S_k        argmax of x·W, W = (Σ G_k + r·I)⁻¹ Σ S_k

Never to be called one-shot. Source: ours; the closed form as in `ridge`.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from equipoise.core.values import State
from equipoise.models.classifier import Seen
from equipoise.server.predict import Merged, ServerView, ordered
from equipoise.server.ridge import applied, concatenated, solved, sums


def statistics_exchange(view: ServerView, merged: Merged) -> Tensor:
    states = [client.model for client in ordered(merged)]
    n_classes = len(merged.clients[0].counts)

    def summary(seen: Sequence[Seen], labels: Tensor) -> State:
        return sums(concatenated([one.features for one in seen]), labels, n_classes)

    head = solved([view.ask(client.client, states, summary) for client in ordered(merged)])
    answers = concatenated([view.asked(state).features for state in states])
    return applied(head, answers).softmax(1).float()
