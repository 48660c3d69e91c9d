"""Metrics of one user's rank. The reported metrics are their means over users.

hr@k = [rank ≤ k]        ndcg@k = [rank ≤ k] / log2(rank + 1)        mrr = 1 / rank
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from equipoise.core.values import Floats

Protocol = Literal["full", "uni100"]

CUTS = (5, 10, 20)


def per_user(ranks: Floats, protocol: Protocol) -> dict[str, Floats]:
    """The value [U] of each metric for each user."""
    gain = 1 / np.log2(ranks + 1)
    return {
        **{f"hr@{k}/{protocol}": (ranks <= k).astype(np.float64) for k in CUTS},
        **{f"ndcg@{k}/{protocol}": np.where(ranks <= k, gain, 0.0) for k in CUTS},
        f"mrr/{protocol}": 1 / ranks,
    }
