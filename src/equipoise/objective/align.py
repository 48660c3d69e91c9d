"""Alignment with what the server sent.

proximal = ½ ‖w − w_t‖²        Source: Li et al., "Federated Optimization in Heterogeneous Networks", 2020, eq. 2
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.objective.compose import View


def proximal(view: View) -> Tensor:
    return 0.5 * torch.stack([(w - view.received[name]).square().sum() for name, w in view.params.items()]).sum()
