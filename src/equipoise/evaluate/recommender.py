"""Scores of every item for every user, as the trained federation would rank them.

A user's window is the last T items before the target. Its experts read the memory that the user's client kept after
training. A client that never trained builds its memory by novelty alone.
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
"""Scores computed in one pass, users × items: few enough that the experts' intermediate results stay in the cache."""
SCORES_THERE = 2**22
"""The same on a device, which has no cache to keep to and makes the host wait for every pass."""
MOST_TERMS = 2**24
"""Largest number of precomputed item terms: remembered items times all items."""
LOOKED_AT = 100
"""Number of users with whom the effect of memory is measured."""


class MemoryEffect(NamedTuple):
    """The largest change that memory makes to a score, and the share of users whose memory holds their target."""

    effect: float
    holds_target: float


@dataclass(frozen=True)
class UserPositions:
    """Positions to predict: users [N] and positions [N] in their histories. A user may occur several times."""

    users: Indices
    at: Indices


@dataclass(frozen=True)
class ItemScorer:
    """Scores all items with a given model state, the users' histories and the clients' memories."""

    model: Recommender
    work: HistoryWork
    data: Interactions
    ends: Indices | None = None
    """[U] where training ended; the memory of a client that never trained ends there too. None: no limit."""
    is_merged: bool = True
    """False: each client is scored with its own model."""
    fresh: dict[tuple[int, int], MemoryRows] = field(default_factory=dict)
    """Cached memory rows of clients that never trained, by user and position."""

    def __post_init__(self) -> None:
        self.model.to(self.work.device.torch_device)

    def user_scores(self, merged: Merged, own: Mapping[int, ClientState], positions: UserPositions) -> Tensor:
        """Scores [N, V] by the merged model, or by each client's own model."""
        if self.is_merged:
            return torch.cat(list(self.scores(merged.model, merged.broadcast, own, positions)))
        found = torch.empty(len(positions.users), self.data.n_items)
        for user in np.unique(positions.users).tolist():
            its, mine = positions.users == user, own[user].model if user in own else {}
            whom = UserPositions(positions.users[its], positions.at[its])
            found[its] = torch.cat(list(self.scores({**merged.model, **mine}, merged.broadcast, own, whom)))
        return found

    def scores(
        self, state: State, broadcast: State, own: Mapping[int, ClientState], positions: UserPositions
    ) -> Iterator[Tensor]:
        """Scores [n, V] on the CPU of one group of users after another, by one model for all."""
        self.work.device.load(self.model, state)
        self.model.eval()
        common = self.work.device.there(common_rows(broadcast))
        most = SCORES if self.work.device.is_cpu else SCORES_THERE
        n_items, size = self.data.n_items, max(1, most // self.data.n_items)
        starts = range(0, len(positions.users), size)
        parts = [
            UserPositions(positions.users[first : first + size], positions.at[first : first + size]) for first in starts
        ]
        many = len(parts) if n_items**2 <= MOST_TERMS else max(1, MOST_TERMS // (size * READ * n_items))
        for first in range(0, len(parts), many):
            yield from self._scores_of_parts([self.windows(part, own) for part in parts[first : first + many]], common)

    def _scores_of_parts(self, parts: Sequence[Windows], common: State) -> Iterator[Tensor]:
        """Per-item terms of remembered items are computed once; every user who remembers an item reuses its terms."""
        remembered, places = torch.unique(torch.cat([windows.memory for windows in parts]), return_inverse=True)
        with torch.inference_mode():
            item_terms = self.model.item_terms(remembered, common)
        for windows, memory in zip(parts, places.split([len(windows.memory) for windows in parts]), strict=True):
            yield self.work.device.home(self._scored(windows._replace(memory=memory), common, item_terms))

    def _scored(self, windows: Windows, common: State, item_terms: Sequence[RememberedRows] = ()) -> Tensor:
        with torch.inference_mode():
            states = self.model.encode(windows)
            last = windows.valid.sum(1) - 1
            newest = states[torch.arange(len(last), device=last.device), last][:, None]
            return self.model.rank(newest, windows, common, item_terms).scores[:, 0]

    def memory_effect(
        self, state: State, broadcast: State, own: Mapping[int, ClientState], positions: UserPositions, items: Indices
    ) -> MemoryEffect:
        """How much memory matters to the first users: how far it moves their scores, and whether it holds their targets
        `items` [N]."""
        few = UserPositions(positions.users[:LOOKED_AT], positions.at[:LOOKED_AT])
        self.work.device.load(self.model, state)
        self.model.eval()
        common = self.work.device.there(common_rows(broadcast))
        windows = self.windows(few, own)
        without = windows._replace(memory_valid=torch.zeros_like(windows.memory_valid))
        effect = (self._scored(windows, common) - self._scored(without, common)).abs().max().item()
        wanted = self.work.device.there(torch.from_numpy(items[:LOOKED_AT]))
        hits = (windows.memory == wanted[:, None]) & windows.memory_valid
        return MemoryEffect(effect, hits.any(1).float().mean().item())

    def windows(self, positions: UserPositions, own: Mapping[int, ClientState]) -> Windows:
        """The window of each user and position, with the items that its experts read."""
        length, places = self.work.model.length, zip(positions.users.tolist(), positions.at.tolist(), strict=True)
        found = [scoring_window(self.data.history(u), t, length, self._read(u, t, own)) for u, t in places]
        return self.work.device.there(stack(found, length))

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
