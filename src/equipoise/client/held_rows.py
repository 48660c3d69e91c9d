"""Negatives of a sampled loss, and the rows of the item table that a client holds because of them.

    negatives   n items that none of the client's users ever met, uniform without replacement, drawn anew for each task
    rows        the client's own items and its negatives, ascending

A client that holds rows numbers its items by these rows instead of by the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from equipoise.client.history_work import HistoryWork
from equipoise.core.streams import stream
from equipoise.core.values import Indices, Task
from equipoise.models.windows import Windows

NOBODY = -1
"""Fills up the negatives of a client that has met so many items that fewer are left: along one axis all clients have
lists of equal length."""


@dataclass(frozen=True)
class HeldRows:
    """`rows` are the catalogue numbers of the rows, None for all; `negatives` [N] are numbered as the client does."""

    rows: Indices | None
    negatives: Indices

    def renumbered(self, windows: Windows) -> Windows:
        """The same windows in the client's numbers, with its rows and negatives."""
        names = ("items", "targets", "recent", "memory")
        numbered = {name: torch.from_numpy(self.local(getattr(windows, name).numpy())) for name in names}
        rows = torch.empty(0, dtype=torch.int64) if self.rows is None else torch.from_numpy(self.rows)
        return windows._replace(**numbered, rows=rows, negatives=torch.from_numpy(self.negatives))

    def local(self, items: Indices) -> Indices:
        """Items as numbers of the rows that the client holds; padding, item 0, becomes row 0."""
        return items if self.rows is None else np.searchsorted(self.rows, items).clip(max=len(self.rows) - 1)


def held_rows(work: HistoryWork, task: Task, owned: Indices) -> HeldRows:
    """The negatives of a task and the rows that the client holds; `owned` are all items that its users met."""
    drawn = _drawn(work, task, owned)
    rows = np.unique(np.concatenate([owned, drawn])) if work.holds_rows and len(drawn) else None
    padding = (0, work.negatives - len(drawn))
    return HeldRows(rows, np.pad(HeldRows(rows, drawn).local(drawn), padding, constant_values=NOBODY))


def _drawn(work: HistoryWork, task: Task, owned: Indices) -> Indices:
    if work.negatives == 0:
        return np.empty(0, dtype=np.int64)
    unmet = np.setdiff1d(np.arange(work.n_items), owned)
    rng = stream(work.config.seed, "negatives", task.step, task.client)
    return np.sort(rng.choice(unmet, min(work.negatives, len(unmet)), replace=False))
