"""A symmetric matrix as the strips in which it is sent: the inverse of `sums.whole` for one part."""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.server.sums import strips


def packed(matrix: Tensor) -> Tensor:
    return torch.cat([matrix[row, column].flatten() for row, column in strips(len(matrix))])
