"""Personal accuracy: how accurate a model is on each client's own held-out samples.

    a_k            accuracy on client k's local test samples (data.local_test), of its own model or of the merged one
    mean           Σ_k a_k / K, all clients with equal weight
    worst_tenth    mean of the ⌈K/10⌉ lowest a_k
    spread         √(Σ_k (a_k − mean)² / K)

accuracy/personal is the client's own model, accuracy/local the merged one. In rounds with client sampling, only the
clients of the round have a model of their own. Source: worst tenth and spread as in fair federated learning, Li et al.
2020 (arXiv:1905.10497), §4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from equipoise.core.values import Floats
from equipoise.evaluate.score import Answers, Scores
from equipoise.server.local_accuracy import OF_MERGED, OF_OWN

OWN, MERGED = "accuracy/personal", "accuracy/local"


def summary(accuracies: Floats) -> dict[str, float]:
    """Mean, worst tenth and spread over clients.

    >>> {name: round(value, 3) for name, value in summary(np.array([0.5, 1.0, 0.9])).items()}
    {'mean': 0.8, 'worst_tenth': 0.5, 'spread': 0.216}
    """
    worst = np.sort(accuracies)[: -(-len(accuracies) // 10)]
    return {"mean": float(accuracies.mean()), "worst_tenth": float(worst.mean()), "spread": float(accuracies.std())}


def scores_of(name: str, accuracies: Mapping[int, float]) -> Scores:
    """`name` for each client, and `name/mean`, `name/worst_tenth` and `name/spread` for the server."""
    if not accuracies:
        return {}
    over = summary(np.array(list(accuracies.values())))
    return {
        **{(client, name): value for client, value in accuracies.items()},
        **{(None, f"{name}/{key}"): value for key, value in over.items()},
    }


def personal_scores(answers: Answers) -> Scores:
    """Scores from clients' answers about their own models and the merged one, as far as they were asked."""
    scores: Scores = {}
    for name, question in ((OWN, OF_OWN), (MERGED, OF_MERGED)):
        shares = {client: float(answer["share"]) for client, answer in answers.get(question, {}).items() if answer}
        scores |= scores_of(name, shares)
    return scores
