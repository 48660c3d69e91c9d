"""Input and output of a recommender: windows of one client's histories, and a score for every item after each position.

W windows of T positions, M rows of memory, L recent items, V items, D features
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Windows(NamedTuple):
    """Windows of one client's histories; `memory.windows` builds them.

    items, targets   [W, T]        the items met, and the item that came next; padded at the end
    valid            [W, T]        which positions exist
    recent           [W, L]        the items just before the window; `recent_valid` marks those that exist
    memory           [W, M]        the items whose features the experts read; `memory_valid` marks those that exist
    level            [2]           running mean and deviation of the client's losses; deviation 0 before the first step
    keep             [P, W, T, D]  dropout masks from the client's own stream; [0] without dropout
    rows             [R]           the items whose table rows the client holds; the items above are numbers of these
                                   rows. [0]: the client holds all rows
    met              [W, V]        the items met before the window's first item; [0] where the loss does not need them
    negatives        [N]           row numbers that a sampled loss compares targets with, padded with −1; [0] for none
    """

    items: Tensor
    targets: Tensor
    valid: Tensor
    recent: Tensor
    recent_valid: Tensor
    memory: Tensor
    memory_valid: Tensor
    level: Tensor
    keep: Tensor
    rows: Tensor
    met: Tensor
    negatives: Tensor


class Ranked(NamedTuple):
    """The output of a recommender: scores = states·tableᵀ + offset, and the experts' results for the targets.

    states    [W, T, D]
    table     [V, D]
    offset    [W, V], the same after every position of a window, or [W, T, V]
    experts   [W, T, D] each: output of every expert, in order
    weights   [W, T, experts]: the router's weights
    shares    [W, T, experts]: each expert's share of the summed lengths; in training only
    """

    states: Tensor
    table: Tensor
    offset: Tensor
    experts: tuple[Tensor, ...] = ()
    weights: Tensor = torch.empty(0)
    shares: Tensor = torch.empty(0)

    @property
    def scores(self) -> Tensor:
        """All scores [W, T, V]."""
        return self.states @ self.table.T + self._offset

    def at(self, targets: Tensor) -> Tensor:
        """Scores [W, T] of one given item [W, T] after each position."""
        offset = self._offset.expand(*targets.shape, -1).gather(-1, targets[..., None])[..., 0]
        return (self.states * self.table[targets]).sum(-1) + offset

    def of(self, items: Tensor) -> Tensor:
        """Scores [W, T, N] of the same few items [N] after every position."""
        return self.states @ self.table[items].T + self._offset[..., items]

    @property
    def _offset(self) -> Tensor:
        return self.offset if self.offset.dim() == self.states.dim() else self.offset[:, None]
