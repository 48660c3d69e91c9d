"""Windows of histories. This is the only place that turns a history into the input of a recommender.

training   targets x_a … x_{b−1}, b − a ≤ T     inputs x_{a−1} … x_{b−2}           memory as it was before a
scoring    no targets                           inputs: the last T items before t  memory as it was before t
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equipoise.core.values import Indices
from equipoise.memory.recall import RECENT, ReadItems, last_items
from equipoise.models.windows import Windows


@dataclass(frozen=True)
class History:
    """One user's items, and the range of positions that are targets now."""

    items: Indices
    first: int
    last: int


def spans(history: History, length: int) -> list[tuple[int, int]]:
    """The targets first … last − 1 in ranges of `length`, counted from the newest; the oldest range comes first.

    >>> spans(History(np.arange(9), 1, 9), 3)
    [(1, 3), (3, 6), (6, 9)]
    """
    ends = range(history.last, history.first, -length)
    return [(max(history.first, end - length), end) for end in ends][::-1]


class Window(NamedTuple):
    """One window of one user.

    earlier            items before the first input
    inputs, targets    at most T items each; a window for scoring has no targets
    recent, memory     the user's recent items, and the items whose features the experts read
    """

    earlier: Indices
    inputs: Indices
    targets: Indices
    recent: ReadItems
    memory: ReadItems


def training_window(items: Indices, first: int, last: int, memory: ReadItems) -> Window:
    """The window whose targets are items[first:last]."""
    inputs, targets = items[first - 1 : last - 1], items[first:last]
    return Window(items[: first - 1], inputs, targets, _recent(items, first), memory)


def scoring_window(items: Indices, at: int, length: int, memory: ReadItems) -> Window:
    """The window from which the item at position `at` is predicted."""
    start = max(0, at - length)
    return Window(items[:start], items[start:at], items[:0], _recent(items, at), memory)


def stack(windows: Sequence[Window], length: int, size: int | None = None, n_items: int = 0) -> Windows:
    """Windows of one kind as tensors of `length` positions, filled up with empty windows to `size`.

    Where `n_items` is given, `met` marks the items before each window's first input. Items have their numbers in the
    catalogue; dropout masks, the level of losses and negatives are left empty.
    """
    size, inputs = size or len(windows), [window.inputs for window in windows]
    n_targets = length if len(windows[0].targets) else 0
    recent, recent_valid = zip(*(window.recent for window in windows), strict=True)
    memory, memory_valid = zip(*(window.memory for window in windows), strict=True)
    return Windows(
        items=_padded(inputs, size, length),
        targets=_padded([window.targets for window in windows], size, n_targets),
        valid=_padded([np.ones(len(row), dtype=np.bool_) for row in inputs], size, length),
        recent=_padded(recent, size, RECENT),
        recent_valid=_padded(recent_valid, size, RECENT),
        memory=_padded(memory, size, len(memory[0])),
        memory_valid=_padded(memory_valid, size, len(memory[0])),
        level=torch.zeros(2),
        keep=torch.empty(0),
        rows=torch.empty(0, dtype=torch.int64),
        met=_met(windows, size, n_items) if n_items else torch.empty(0, dtype=torch.bool),
        negatives=torch.empty(0, dtype=torch.int64),
    )


def _recent(items: Indices, at: int) -> ReadItems:
    (recent,), (valid,) = last_items(items, [at], RECENT)
    return recent, valid


def _padded(rows: Sequence[NDArray[np.generic]], size: int, width: int) -> Tensor:
    """[size, width], each row filled up at its end with 0."""
    found = np.zeros((size, width), dtype=rows[0].dtype)
    for row, values in enumerate(rows):
        found[row, : len(values)] = values
    return torch.from_numpy(found)


def _met(windows: Sequence[Window], size: int, n_items: int) -> Tensor:
    met = np.zeros((size, n_items), dtype=np.bool_)
    for row, window in enumerate(windows):
        met[row, window.earlier] = True
    return torch.from_numpy(met)
