"""Scores of every item for every user, as the federation would show them: encoded once, ranked under both protocols.

A user's window is the last T items before the target, its memory what its client kept after training. A client that
was never asked remembers by novelty alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from equipoise.client.history_work import HistoryWork
from equipoise.core.values import ClientState, Indices, State
from equipoise.data.interactions import Interactions
from equipoise.memory.dynamic import COLUMNS, MemoryRows
from equipoise.memory.recall import (
    READ,
    HistoryMemory,
    ReadItems,
    read_memory,
    read_recent,
)
from equipoise.memory.windows import scoring_window, stack
from equipoise.models.experts import RememberedRows
from equipoise.models.recommender import Recommender
from equipoise.models.windows import Windows
from equipoise.objective.recommend import common_rows
from equipoise.server.predict import Merged

SCORES = 55_000
"""Scores formed in one pass: users times items, so few that what the experts read for them stays in the cache."""
MOST_TERMS = 2**24
"""Largest number of precomputed item terms: remembered items times all items."""
LOOKED_AT = 100
"""Users with whom the effect of memory is measured."""


class Recalled(NamedTuple):
    """The largest change of a score by memory, and the share of users whose memory holds what they are to be shown."""

    effect: float
    holds_target: float


@dataclass(frozen=True)
class Shown:
    """Who is shown something, and where in their histories: users [N] and positions [N]."""

    users: Indices
    at: Indices


@dataclass(frozen=True)
class ItemScorer:
    """A recommender to load states into, everybody's histories, and what clients remember."""

    model: Recommender
    work: HistoryWork
    data: Interactions
    ends: Indices | None = None
    """[U] where training ended: what clients remember that were never asked, they remember up to there."""
    is_merged: bool = True
    """False: every client is scored by its own model."""
    fresh: dict[tuple[int, int], MemoryRows] = field(default_factory=dict)
    """What clients remember that were never asked."""

    def shown(self, merged: Merged, own: Mapping[int, ClientState], shown: Shown) -> Tensor:
        """[N, V] as each of them would see it: by the merged model, or by their clients' own."""
        if self.is_merged:
            return torch.cat(list(self.scores(merged.model, merged.broadcast, own, shown)))
        found = torch.empty(len(shown.users), self.data.n_items)
        for user in np.unique(shown.users).tolist():
            its, mine = shown.users == user, own[user].model if user in own else {}
            whom = Shown(shown.users[its], shown.at[its])
            found[its] = torch.cat(list(self.scores({**merged.model, **mine}, merged.broadcast, own, whom)))
        return found

    def scores(self, state: State, broadcast: State, own: Mapping[int, ClientState], shown: Shown) -> Iterator[Tensor]:
        """[n, V] of so many users at a time, by one model for all."""
        self.model.load_state_dict(dict(state))
        self.model.eval()
        common = common_rows(broadcast)
        n_items, size = self.data.n_items, max(1, SCORES // self.data.n_items)
        starts = range(0, len(shown.users), size)
        parts = [Shown(shown.users[first : first + size], shown.at[first : first + size]) for first in starts]
        many = len(parts) if n_items**2 <= MOST_TERMS else max(1, MOST_TERMS // (size * READ * n_items))
        for first in range(0, len(parts), many):
            yield from self._shelved([self.windows(part, own) for part in parts[first : first + many]], common)

    def _shelved(self, parts: Sequence[Windows], common: State) -> Iterator[Tensor]:
        """What remembered items have for all others is formed once, and taken by whoever remembers them."""
        remembered, places = torch.unique(torch.cat([windows.memory for windows in parts]), return_inverse=True)
        with torch.inference_mode():
            item_terms = self.model.item_terms(remembered, common)
        for windows, memory in zip(parts, places.split([len(windows.memory) for windows in parts]), strict=True):
            yield self._scored(windows._replace(memory=memory), common, item_terms)

    def _scored(self, windows: Windows, common: State, item_terms: Sequence[RememberedRows] = ()) -> Tensor:
        with torch.inference_mode():
            states = self.model.encode(windows)
            last = windows.valid.sum(1) - 1
            newest = states[torch.arange(len(last)), last][:, None]
            return self.model.rank(newest, windows, common, item_terms).scores[:, 0]

    def recalled(
        self, state: State, broadcast: State, own: Mapping[int, ClientState], shown: Shown, items: Indices
    ) -> Recalled:
        """How much memory matters for the first users: by how much it moves their scores, and whether it holds the
        very items [N] that are to be found."""
        few = Shown(shown.users[:LOOKED_AT], shown.at[:LOOKED_AT])
        self.model.load_state_dict(dict(state))
        self.model.eval()
        common = common_rows(broadcast)
        windows = self.windows(few, own)
        without = windows._replace(memory_valid=torch.zeros_like(windows.memory_valid))
        effect = (self._scored(windows, common) - self._scored(without, common)).abs().max().item()
        hits = (windows.memory == torch.from_numpy(items[:LOOKED_AT])[:, None]) & windows.memory_valid
        return Recalled(effect, hits.any(1).float().mean().item())

    def windows(self, shown: Shown, own: Mapping[int, ClientState]) -> Windows:
        """The window of each user and position, with the items that its experts read."""
        length, places = self.work.model.length, zip(shown.users.tolist(), shown.at.tolist(), strict=True)
        found = [scoring_window(self.data.history(u), t, length, self._read(u, t, own)) for u, t in places]
        return stack(found, length)

    def _read(self, user: int, at: int, own: Mapping[int, ClientState]) -> ReadItems:
        """The items whose features a user's experts read at a position."""
        history, features, options = self.data.history(user), self.work.features, self.work.memory
        if features is None or options is None:
            return read_recent(history, at, features is not None)
        return read_memory(self._rows(user, at, own), history, features, at, options)

    def _rows(self, user: int, at: int, own: Mapping[int, ClientState]) -> MemoryRows:
        kept = own[user].memory if user in own else {}
        if kept:
            positions, times, uses = (kept[name].numpy().astype(np.int64) for name in COLUMNS)
            return positions, times, uses
        at = at if self.ends is None else min(at, int(self.ends[user]))
        if (user, at) not in self.fresh:
            assert self.work.features is not None
            assert self.work.memory is not None
            history = self.data.history(user)[:at]
            memory = HistoryMemory(history, self.work.features, self.work.memory)
            (self.fresh[user, at],) = memory.rows_before(np.zeros(len(history), dtype=np.float32), [len(history)])
        return self.fresh[user, at]
