"""Classification.

cls = mean_i CE(softmax(logits_i), y_i)
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from equipoise.objective.compose import View


def cross_entropy(view: View) -> Tensor:
    return F.cross_entropy(view.logits, view.labels)
