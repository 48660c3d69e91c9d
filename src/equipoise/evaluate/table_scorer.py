"""Scores of every item for every user from one table that the server solved: the newest items, each followed in it.

    score_u = Σ_p weight_p·table[p-th newest item of u]

The weights are those of `server/item_tables.weights_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from equipoise.core.errors import ClientError
from equipoise.core.values import ClientState, Floats, State
from equipoise.data.interactions import Interactions
from equipoise.evaluate.blend import Blend, Scorer
from equipoise.evaluate.markov import AT_ONCE, sparse
from equipoise.evaluate.popularity import spanned
from equipoise.evaluate.recommender import UserPositions
from equipoise.evaluate.targets import Target
from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_tables import weights_of
from equipoise.server.predict import Merged


@dataclass(frozen=True)
class TableScorer:
    name: str
    """Of the table in the state."""
    weights: Floats
    """Of the p-th newest item, p = 1, 2, …"""
    data: Interactions
    tables: State | None = None
    """None: those of the merged state."""

    def user_scores(self, merged: Merged, own: Mapping[int, ClientState], positions: UserPositions) -> Tensor:
        """Scores float32 [N, V] of all items before each position; items that nothing leads to get 0."""
        table = (merged.model if self.tables is None else self.tables)[self.name].numpy()
        if table.shape != (self.data.n_items, self.data.n_items):
            what = f"table '{self.name}' is of {len(table)} items, and the data has {self.data.n_items}"
            raise ClientError(what, where="the first report", fix="run every node on the same data")
        starts, ends, n_items = self.data.bounds[positions.users], positions.at, self.data.n_items
        skipped = np.maximum(ends - len(self.weights), 0)
        rows, at = spanned(starts + skipped, ends - skipped)
        weights = self.weights[(starts + ends)[rows] - at - 1].astype(np.float32)
        newest = sparse(weights, (rows, self.data.items[at]), (len(ends), n_items))
        scores = np.empty((len(ends), n_items), dtype=np.float32)
        for first in range(0, len(ends), AT_ONCE):
            scores[first : first + AT_ONCE] = newest[first : first + AT_ONCE] @ table
        return torch.from_numpy(scores)


def table_scorer(
    options: ItemSumsOptions, data: Interactions, validation: Callable[[], Target], tables: State | None = None
) -> Scorer:
    """The scorer of the tables that the options name; two are blended with the weight that validation chooses."""
    each = [TableScorer(name, weights_of(name, options), data, tables) for name in options.tables]
    return each[0] if len(each) == 1 else Blend(options.tables[1], each[0], each[1], validation)
