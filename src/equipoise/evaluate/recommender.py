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

from equipoise.client.histories import KEPT, HistoryWork
from equipoise.core.values import ClientState, Indices, State
from equipoise.data.interactions import Interactions
from equipoise.memory.dynamic import Kept, retrieve
from equipoise.memory.recall import READ, RECENT, Recall, last_items, query
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
    fresh: dict[tuple[int, int], Kept] = field(default_factory=dict)
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
        length = self.work.model.length
        histories = [self.data.history(user) for user in shown.users]
        items, valid = (
            np.zeros((len(histories), length), dtype=np.int64),
            np.zeros((len(histories), length), dtype=bool),
        )
        for row, (history, at) in enumerate(zip(histories, shown.at, strict=True)):
            seen = history[max(0, at - length) : at]
            items[row, : len(seen)], valid[row, : len(seen)] = seen, True
        recents = [last_items(history, [at], RECENT) for history, at in zip(histories, shown.at, strict=True)]
        reads = [self._read(user, at, own) for user, at in zip(shown.users.tolist(), shown.at.tolist(), strict=True)]
        recent, recent_valid = (np.concatenate(part) for part in zip(*recents, strict=True))
        memory, memory_valid = (np.stack(part) for part in zip(*reads, strict=True))
        none = torch.empty(0, dtype=torch.int64)
        return Windows(
            items=torch.from_numpy(items),
            targets=torch.from_numpy(items[:, :0]),
            valid=torch.from_numpy(valid),
            recent=torch.from_numpy(recent),
            recent_valid=torch.from_numpy(recent_valid),
            memory=torch.from_numpy(memory),
            memory_valid=torch.from_numpy(memory_valid),
            level=torch.zeros(2),
            keep=torch.empty(0),
            rows=none,
            met=torch.empty(0, dtype=torch.bool),
            negatives=none,
        )

    def _read(self, user: int, at: int, own: Mapping[int, ClientState]) -> tuple[Indices, np.ndarray]:
        """The items whose features a user's experts read at a position."""
        history, features, options = self.data.history(user)[:at], self.work.features, self.work.memory
        if features is None or options is None:
            (items,), (valid,) = last_items(history, [at], READ if features is not None else 1)
            return items * valid, valid
        kept = self._kept(user, at, own)
        recent = features[history[max(0, at - RECENT) : at]]
        positions, valid = retrieve(kept, features[history[kept[0]]], query(recent, len(recent)), at, options)
        return history[positions] * valid, valid

    def _kept(self, user: int, at: int, own: Mapping[int, ClientState]) -> Kept:
        memory = own[user].memory if user in own else {}
        if memory:
            positions, times, uses = (memory[name].numpy().astype(np.int64) for name in KEPT)
            return positions, times, uses
        at = at if self.ends is None else min(at, int(self.ends[user]))
        if (user, at) not in self.fresh:
            assert self.work.features is not None
            assert self.work.memory is not None
            history = self.data.history(user)[:at]
            recall = Recall(history, self.work.features, self.work.memory)
            (self.fresh[user, at],) = recall.at(np.zeros(len(history), dtype=np.float32), [len(history)])
        return self.fresh[user, at]
