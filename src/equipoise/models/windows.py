"""What a recommender reads and says: parts of one user's history, and a score for every item after each position.

W windows of T positions, M rows of memory, L recent items, V items, D features
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Windows(NamedTuple):
    """Parts of one client's history, and what the client's memory held before each of them.

    items, targets   [W, T]        what was met, and what came next; padded at the end
    valid            [W, T]        which positions exist
    recent           [W, L]        the items just before the window, `recent_valid` where there were any
    memory           [W, M]        the items whose features the experts read, `memory_valid` where there are any
    level            [2]           running mean and deviation of the client's losses; deviation 0 at the very first step
    keep             [P, W, T, D]  dropout's masks from the client's own stream; [0] for none
    rows             [R]           the items whose rows the client holds, which all numbers above count; [0] for all
    met              [W, V]        the items met before the window's first; [0] where nobody asks
    negatives        [N]           of those rows, what a sampled loss compares the targets with, then −1; [0] for none
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
    """What a recommender says of windows: a product and an offset whose sum are the scores; of the targets, each
    expert's output [W, T, D] in order of the experts, the router's weights [W, T, experts], and in training how much of
    the length of what is added up is each expert's [W, T, experts].

    states   [W, T, D]
    table    [V, D]
    offset   [W, V], the same after every position of a window, or [W, T, V]
    """

    states: Tensor
    table: Tensor
    offset: Tensor
    experts: tuple[Tensor, ...] = ()
    weights: Tensor = torch.empty(0)
    shares: Tensor = torch.empty(0)

    @property
    def scores(self) -> Tensor:
        """[W, T, V], for whoever needs them all."""
        return self.states @ self.table.T + self._offset

    def at(self, targets: Tensor) -> Tensor:
        """Scores [W, T] of one item [W, T] after each position."""
        offset = self._offset.expand(*targets.shape, -1).gather(-1, targets[..., None])[..., 0]
        return (self.states * self.table[targets]).sum(-1) + offset

    def of(self, items: Tensor) -> Tensor:
        """Scores [W, T, N] of a few items [N], the same after every position."""
        return self.states @ self.table[items].T + self._offset[..., items]

    @property
    def _offset(self) -> Tensor:
        return self.offset if self.offset.dim() == self.states.dim() else self.offset[:, None]
