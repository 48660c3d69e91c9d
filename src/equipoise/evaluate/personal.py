"""Personal accuracy: how well each client is served on images of its own that nobody trained on.

    a_k            accuracy on client k's local test images (data.local_test), of its own model or of the merged one
    mean           Σ_k a_k / K, every client counts the same
    worst_tenth    mean of the ⌈K/10⌉ lowest a_k
    spread         √(Σ_k (a_k − mean)² / K)

accuracy/personal is the client's own model, accuracy/local the merged one. In rounds with client sampling, only the
clients of the round have a model of their own. Source: worst tenth and spread as in fair federated learning, Li et al.
2020 (arXiv:1905.10497), §4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from equipoise.core.values import Floats, Images, Indices, Labels, Mask
from equipoise.evaluate.score import Scores

OWN, MERGED = "accuracy/personal", "accuracy/local"


def summary(accuracies: Floats) -> dict[str, float]:
    """Mean, worst tenth and spread over clients.

    >>> {name: round(value, 3) for name, value in summary(np.array([0.5, 1.0, 0.9])).items()}
    {'mean': 0.8, 'worst_tenth': 0.5, 'spread': 0.216}
    """
    worst = np.sort(accuracies)[: -(-len(accuracies) // 10)]
    return {"mean": float(accuracies.mean()), "worst_tenth": float(worst.mean()), "spread": float(accuracies.std())}


def scores_of(name: str, accuracies: Mapping[int, float]) -> Scores:
    """`name` of each client, and `name/mean`, `name/worst_tenth` and `name/spread` of the server."""
    if not accuracies:
        return {}
    over = summary(np.array(list(accuracies.values())))
    return {
        **{(client, name): value for client, value in accuracies.items()},
        **{(None, f"{name}/{key}"): value for key, value in over.items()},
    }


def local_images(train: Images, local: Sequence[Indices]) -> Images:
    """The local test images of all clients, one client after another; `local` are indices of training images."""
    return train.take(np.concatenate(list(local)))


def by_client(is_right: Mask, local: Sequence[Indices]) -> dict[int, float]:
    """Accuracies of all clients, from answers to `local_images`."""
    parts = np.split(is_right, np.cumsum([len(index) for index in local])[:-1])
    return {client: float(part.mean()) for client, part in enumerate(parts)}


def merged_scores(answers: Labels, labels: Labels, local: Sequence[Indices]) -> Scores:
    """Scores of the merged model: the classes that it answers for `local_images`, and their true ones."""
    return scores_of(MERGED, by_client(answers == labels, local))


def own_scores(answers: Mapping[int, Labels], labels: Labels, local: Sequence[Indices]) -> Scores:
    """Scores of clients' own models: by client, the classes that its model answers for its own part of them."""
    truth = np.split(labels, np.cumsum([len(index) for index in local])[:-1])
    return scores_of(OWN, {client: float((given == truth[client]).mean()) for client, given in answers.items()})
