"""Accuracy and recall.

accuracy = mean_i [argmax p_i = y_i]        recall_c = mean over y_i = c of [argmax p_i = c]
loss = −mean_i log p_i[y_i]
"""

from __future__ import annotations

import torch
from torch import Tensor


def accuracy(probabilities: Tensor, labels: Tensor) -> float:
    return (probabilities.argmax(1) == labels).double().mean().item()


def recall(probabilities: Tensor, labels: Tensor) -> dict[int, float]:
    """Recall of each class that occurs in `labels`."""
    hits = (probabilities.argmax(1) == labels).double()
    return {c: hits[labels == c].mean().item() for c in sorted(set(labels.tolist()))}


def negative_log_likelihood(probabilities: Tensor, labels: Tensor) -> float:
    chosen = probabilities.gather(1, labels[:, None]).clamp_min(torch.finfo(probabilities.dtype).tiny)
    return -chosen.log().double().mean().item()
