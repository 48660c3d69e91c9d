"""A recommender's client: its histories as batches of windows, and what it keeps and reports of its memory.

Each pair of an item and the next is trained on once per epoch, all positions of a window in one pass. The order of
windows and the dropout masks come from the client's own random streams. A client usually holds one user's history;
where data is pooled it holds many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from equipoise.client.held_rows import held_rows
from equipoise.client.history_work import HistoryWork
from equipoise.client.loss_level import LossLevel
from equipoise.core.streams import stream, stream_seed
from equipoise.core.values import Indices, Labels, State, Task
from equipoise.memory.dynamic import COLUMNS, MemoryRows
from equipoise.memory.product import FeatureRows
from equipoise.memory.prototypes import apart, centres, each_of_length_one
from equipoise.memory.recall import HistoryMemory, ReadItems, read_recent, standardised
from equipoise.memory.windows import History, spans, stack, training_window
from equipoise.models.windows import Windows


class HistoryFeed:
    """The data of one client for one task."""

    def __init__(self, work: HistoryWork, task: Task, histories: Sequence[History]) -> None:
        self.work, self.task, self.histories = work, task, histories
        self.spans = [(k, a, b) for k, history in enumerate(histories) for a, b in spans(history, work.model.length)]
        self.losses = LossLevel(task.own.memory, [len(history.items) for history in histories], work.device)
        self._held = held_rows(work, task, np.concatenate([history.items for history in histories]))
        self._memory = self._dynamic_memory()
        self._now: list[int] = []
        """The spans of the current step."""
        self._reads: Sequence[ReadItems] = ()

    @property
    def rows(self) -> Indices | None:
        return self._held.rows

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
        """The batches of one epoch. Experts read memory as it was when the task began."""
        size, seed, client = self.work.config.client.batch, self.work.config.seed, self.task.client
        self._reads = self._reads or self._read_items()
        order = stream(seed, "batches", epoch, client).permutation(len(self.spans))
        noise = torch.Generator().manual_seed(stream_seed(seed, "noise", epoch, client))
        for step in range(self.n_steps):
            self._now = order[step * size : (step + 1) * size].tolist()
            yield self._windows(noise)

    def observe(self, memory: State) -> None:
        """Record the losses of the step's positions. They move the running level and decide what memory keeps."""
        self.losses.observe(memory["loss"], [self.spans[at] for at in self._now])

    @property
    def level(self) -> Tensor:
        return self.losses.level_there

    def unread(self) -> list[Tensor]:
        return self.losses.unread()

    def settle(self, home: list[Tensor]) -> None:
        self.losses.settle(home)

    def memory(self) -> State:
        """What the client keeps for its next task: the latest losses, their level, and the memory's rows.

        Without a dynamic memory it keeps the level alone, and only where two experts weigh samples by surprise.
        """
        level = torch.from_numpy(self.losses.level)
        if self._memory is None:
            return {"level": level} if len(self.work.widths) > 1 else {}
        columns = zip(COLUMNS, self._rows(), strict=True)
        rows = {name: torch.from_numpy(column.astype(np.int32)) for name, column in columns}
        return {"loss": torch.from_numpy(self.losses.latest[0]), "level": level, **rows}

    def report(self) -> State:
        """A few cluster centres of the client's memory. The features of a single item never leave the client."""
        if self._memory is None or self.work.prototypes == 0:
            return {}
        widths = list(self.work.widths.values())
        rows = each_of_length_one(self._memory.features_of(self._rows()), widths)
        seed = stream_seed(self.work.config.seed, "told", self.task.step, self.task.client)
        found, weights = centres(rows, self.work.prototypes, seed, widths)
        split = zip(self.work.widths, apart(found, widths), strict=True)
        parts = {f"centres.{name}": torch.from_numpy(part.copy()) for name, part in split}
        return {**parts, "weights": torch.from_numpy(weights)}

    def numbers(self) -> dict[str, float]:
        """The share of positions written, and how often memory holds a target and an arbitrary item."""
        if self._memory is None:
            return {}
        reads = zip(self._read_items(), self.spans, strict=True)
        found = [(self.histories[k].items[a:b], items[valid]) for (items, valid), (k, a, b) in reads]
        hits, seen = (sum(parts) for parts in zip(*((np.isin(x, m).sum(), len(x)) for x, m in found), strict=True))
        return {
            "memory/write_rate": self._memory.write_rate(self._surprise()),
            "memory/p_positive": float(hits / seen),
            "memory/p_negative": float(np.mean([len(np.unique(m)) for _, m in found]) / self.work.n_items),
        }

    def _windows(self, noise: torch.Generator) -> Windows:
        """The windows of the current step as the model reads them."""
        work, chosen = self.work, [(*self.spans[at], self._reads[at]) for at in self._now]
        windows = [training_window(self.histories[k].items, a, b, read) for k, a, b, read in chosen]
        n_items = 0 if work.negatives else work.n_items
        batch = stack(windows, work.model.length, work.config.client.batch, n_items)
        return self._held.renumbered(batch)._replace(keep=work.dropout_masks(noise))

    def _dynamic_memory(self) -> HistoryMemory | None:
        if self.work.memory is None or self.work.features is None:
            return None
        assert len(self.histories) == 1, "a memory belongs to one user"
        history = self.histories[0]
        return HistoryMemory(history.items[: history.last], self.work.features, self.work.memory)

    def _surprise(self) -> FeatureRows:
        return standardised(self.losses.latest[0], self.losses.level)[: self.histories[0].last]

    def _rows(self) -> MemoryRows:
        """The memory's rows at the end of the history."""
        assert self._memory is not None
        (rows,) = self._memory.rows_before(self._surprise(), [self.histories[0].last])
        return rows

    def _read_items(self) -> Sequence[ReadItems]:
        """The items that experts read for each span."""
        if self._memory is not None:
            return self._memory.read_before(self._surprise(), [a for _, a, _ in self.spans])
        has_features = self.work.features is not None
        return [read_recent(self.histories[k].items, a, has_features) for k, a, _ in self.spans]
