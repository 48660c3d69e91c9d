"""A client's history as steps: windows of next-item pairs, each with what the memory held before it.

    window [a, b):   inputs x_{a−1} … x_{b−2}      targets x_a … x_{b−1}      b − a ≤ T, counted from the newest

Every pair is trained on once an epoch, all positions of a window in one pass. The order of windows and the masks of
dropout come from the client's own streams. A client usually is one user; where data is pooled it holds many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from equipoise.client.feed import Steps
from equipoise.client.recall import READ, RECENT, Recall, last_items, standardised
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.streams import stream, stream_seed
from equipoise.core.values import Indices, Labels, State, Task
from equipoise.memory.dynamic import Kept
from equipoise.memory.product import FeatureRows
from equipoise.memory.prototypes import apart, centres, each_of_length_one
from equipoise.memory.settings import MemoryOptions
from equipoise.models.settings import SasrecOptions
from equipoise.models.windows import Windows

KEPT = ("positions", "times", "uses")
"""What the columns of a memory are called in a client's state."""
NOBODY = -1
"""Fills the list of negatives of a client who has met so much that fewer are left: clients along one axis have equally
long lists."""
RATE = 0.1
"""How fast the running mean and deviation of a client's losses follow."""


@dataclass(frozen=True)
class HistoryWork:
    """What every client's history has in common: how it is cut, and what its memory compares items by."""

    config: Config
    clock: Clock
    model: SasrecOptions
    n_masks: int
    features: FeatureRows | None = None
    """[V, d] of length 1; None: experts are not there, or read the most recent items."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """Which columns of the features are whose: modality → how many, in order."""
    memory: MemoryOptions | None = None
    prototypes: int = 0
    """Centres of its memory that a client tells; 0: it tells nothing."""
    negatives: int = 0
    """Items drawn to compare with; 0: the whole catalogue."""
    n_items: int = 0
    holds_rows: bool = False
    """Whether a client holds only the rows of the item table that it touches."""

    def steps(self, feeds: Sequence[HistoryFeed], epoch: int) -> Iterator[Steps]:
        going = [feed.steps(epoch) for feed in feeds]
        counts = np.array([feed.n_steps for feed in feeds])
        for step in range(counts.max()):
            n = int((counts > step).sum())
            windows = [next(feed) for feed in going[:n]]
            progress = self.clock.progress(epoch, step / counts[:n])
            yield Steps(epoch * counts[:n] + step, progress, epoch, _stacked(windows))

    def input_statistics(self, batch: Windows) -> dict[str, Tensor]:
        return {}


@dataclass(frozen=True)
class History:
    """One user's items, and which of their positions are targets now."""

    items: Indices
    first: int
    last: int


class HistoryFeed:
    def __init__(self, work: HistoryWork, task: Task, histories: Sequence[History]) -> None:
        self.work, self.task, self.histories = work, task, histories
        self.spans = [(k, a, b) for k, history in enumerate(histories) for a, b in spans(history, work.model.length)]
        own = task.own.memory
        self.level = own["level"].numpy().copy() if own else np.zeros(2, dtype=np.float32)
        self.losses = [_known(own, len(history.items)) for history in histories]
        self._now: list[int] = []
        self._recall = self._make_recall()
        self._offered: tuple[Indices, np.ndarray] | None = None
        drawn = self._drawn()
        owned = np.concatenate([history.items for history in histories])
        self.rows = np.unique(np.concatenate([owned, drawn])) if work.holds_rows and len(drawn) else None
        behind = work.negatives - len(drawn)
        self._negatives = np.pad(self._local(drawn), (0, behind), constant_values=NOBODY)

    @property
    def samples(self) -> int:
        return sum(b - a for _, a, b in self.spans)

    @property
    def counts(self) -> Labels:
        return np.array([self.samples])

    @property
    def n_steps(self) -> int:
        return -(-len(self.spans) // self.work.config.client.batch)

    def steps(self, epoch: int) -> Iterator[Windows]:
        """Each as the memory stands when it is asked for."""
        size, seed, client = self.work.config.client.batch, self.work.config.seed, self.task.client
        if self._offered is None:
            self._offered = self._offers()
        order = stream(seed, "batches", epoch, client).permutation(len(self.spans))
        noise = torch.Generator().manual_seed(stream_seed(seed, "noise", epoch, client))
        for step in range(self.n_steps):
            self._now = order[step * size : (step + 1) * size].tolist()
            yield self._windows(self._offered, noise)

    def observe(self, memory: State) -> None:
        """The losses of the step's positions: they move the running level, and decide what is remembered."""
        found = memory["loss"].numpy()
        seen = [found[row, : self.spans[at][2] - self.spans[at][1]] for row, at in enumerate(self._now)]
        for losses, at in zip(seen, self._now, strict=True):
            k, a, b = self.spans[at]
            self.losses[k][a:b] = losses
        everything = np.concatenate(seen)
        now = np.array([everything.mean(), everything.std()], dtype=np.float32)
        self.level = now if self.level[1] == 0 else self.level + np.float32(RATE) * (now - self.level)

    def memory(self) -> State:
        """Losses of the last visit and their level; and what is remembered at the end of the history.

        Without a dynamic memory the level alone, where surprise is asked for.
        """
        if self._recall is None:
            return {"level": torch.from_numpy(self.level)} if len(self.work.widths) > 1 else {}
        kept = zip(KEPT, self._kept(), strict=True)
        rows = {name: torch.from_numpy(column.astype(np.int32)) for name, column in kept}
        return {"loss": torch.from_numpy(self.losses[0]), "level": torch.from_numpy(self.level), **rows}

    def report(self) -> State:
        """A few centres of what the client remembers; the features of an item never leave it."""
        if self._recall is None or self.work.prototypes == 0:
            return {}
        widths = list(self.work.widths.values())
        rows = each_of_length_one(self._recall.features[self._kept()[0]], widths)
        seed = stream_seed(self.work.config.seed, "told", self.task.step, self.task.client)
        found, behind = centres(rows, self.work.prototypes, seed, widths)
        split = zip(self.work.widths, apart(found, widths), strict=True)
        parts = {f"centres.{name}": torch.from_numpy(part.copy()) for name, part in split}
        return {**parts, "weights": torch.from_numpy(behind)}

    def numbers(self) -> dict[str, float]:
        if self._recall is None:
            return {}
        offered = zip(*self._offers(), self.spans, strict=True)
        found = [(self.histories[k].items[a:b], items[valid]) for items, valid, (k, a, b) in offered]
        hits, seen = (sum(parts) for parts in zip(*((np.isin(x, m).sum(), len(x)) for x, m in found), strict=True))
        return {
            "memory/write_rate": self._recall.write_rate(self._surprise()),
            "memory/p_positive": float(hits / seen),
            "memory/p_negative": float(np.mean([len(np.unique(m)) for _, m in found]) / self.work.n_items),
        }

    def _make_recall(self) -> Recall | None:
        if self.work.memory is None or self.work.features is None:
            return None
        assert len(self.histories) == 1, "a memory belongs to one user"
        return Recall(self.histories[0].items[: self.histories[0].last], self.work.features, self.work.memory)

    def _surprise(self) -> FeatureRows:
        return standardised(self.losses[0], self.level)[: self.histories[0].last]

    def _kept(self) -> Kept:
        assert self._recall is not None
        (kept,) = self._recall.at(self._surprise(), [self.histories[0].last])
        return kept

    def _offers(self) -> tuple[Indices, np.ndarray]:
        """What the experts read before each span, as the memory stood when the task began."""
        if self._recall is not None:
            return self._recall.offers(self._surprise(), [a for _, a, _ in self.spans])
        read = READ if self.work.features is not None else 1
        parts = [last_items(self.histories[k].items, [a], read) for k, a, _ in self.spans]
        items, valid = (np.concatenate(part) for part in zip(*parts, strict=True))
        return items * valid, valid

    def _windows(self, offers: tuple[Indices, np.ndarray], noise: torch.Generator) -> Windows:
        size, length = self.work.config.client.batch, self.work.model.length
        items, targets = (np.zeros((size, length), dtype=np.int64) for _ in range(2))
        valid = np.zeros((size, length), dtype=bool)
        recent, recent_valid = np.zeros((size, RECENT), dtype=np.int64), np.zeros((size, RECENT), dtype=bool)
        memory, memory_valid = (np.zeros((size, part.shape[1]), dtype=part.dtype) for part in offers)
        met = np.zeros((size, self.work.n_items), dtype=bool) if self.work.negatives == 0 else np.empty(0, dtype=bool)
        for row, at in enumerate(self._now):
            k, a, b = self.spans[at]
            history = self.histories[k].items
            if len(met):
                met[row, history[: a - 1]] = True
            items[row, : b - a], targets[row, : b - a], valid[row, : b - a] = history[a - 1 : b - 1], history[a:b], True
            (recent[row],), (recent_valid[row],) = last_items(history, [a], RECENT)
            memory[row], memory_valid[row] = offers[0][at], offers[1][at]
        return Windows(
            items=torch.from_numpy(self._local(items)),
            targets=torch.from_numpy(self._local(targets)),
            valid=torch.from_numpy(valid),
            recent=torch.from_numpy(self._local(recent)),
            recent_valid=torch.from_numpy(recent_valid),
            memory=torch.from_numpy(self._local(memory)),
            memory_valid=torch.from_numpy(memory_valid),
            level=torch.from_numpy(self.level.copy()),
            keep=self._keep(noise),
            rows=torch.empty(0, dtype=torch.int64) if self.rows is None else torch.from_numpy(self.rows),
            met=torch.from_numpy(met),
            negatives=torch.from_numpy(self._negatives),
        )

    def _drawn(self) -> Indices:
        """Items that nobody here ever met, drawn anew for each task."""
        if self.work.negatives == 0:
            return np.empty(0, dtype=np.int64)
        met = np.unique(np.concatenate([history.items for history in self.histories]))
        unmet = np.setdiff1d(np.arange(self.work.n_items), met)
        rng = stream(self.work.config.seed, "negatives", self.task.step, self.task.client)
        return np.sort(rng.choice(unmet, min(self.work.negatives, len(unmet)), replace=False))

    def _local(self, items: Indices) -> Indices:
        """Items as numbers of the rows that the client holds; padding, item 0, becomes row 0."""
        return items if self.rows is None else np.searchsorted(self.rows, items).clip(max=len(self.rows) - 1)

    def _keep(self, noise: torch.Generator) -> Tensor:
        model, size = self.work.model, self.work.config.client.batch
        if model.dropout == 0:
            return torch.empty(0)
        drawn = torch.rand(self.work.n_masks, size, model.length, model.width, generator=noise)
        return (drawn >= model.dropout) / (1 - model.dropout)


def _stacked(windows: Sequence[Windows]) -> Windows:
    """Of several clients; lists of rows are as long as the longest."""
    return Windows(*(pad_sequence(list(part), batch_first=True) for part in zip(*windows, strict=True)))


def spans(history: History, length: int) -> list[tuple[int, int]]:
    """Targets first … last − 1 in windows of `length`, counted from the newest, the oldest first.

    >>> spans(History(np.arange(9), 1, 9), 3)
    [(1, 3), (3, 6), (6, 9)]
    """
    ends = range(history.last, history.first, -length)
    return [(max(history.first, end - length), end) for end in ends][::-1]


def _known(own: State, n: int) -> FeatureRows:
    """The losses of the last visit; −1 where there was none."""
    losses = np.full(n, -1, dtype=np.float32)
    if "loss" in own:
        before = own["loss"].numpy()
        losses[: len(before)] = before
    return losses
