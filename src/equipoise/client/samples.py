"""A client's labelled samples as steps: shuffled, prepared, in one view or in two, each draw from its own streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.client.batches import n_batches, shuffled
from equipoise.client.feed import Steps
from equipoise.client.own import OwnSamples
from equipoise.client.stored import StoredSamples
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.device import Device, device_of
from equipoise.core.numbers import precise
from equipoise.core.streams import stream_seed
from equipoise.core.values import Indices, Labels, Samples, State, Task
from equipoise.data.inputs import Inputs
from equipoise.models.classifier import Classifier
from equipoise.models.outputs import InputReader
from equipoise.objective.compose import Batch


class Slice(NamedTuple):
    """The rows [K, B] of the training set that clients see at one step; only the first `lengths[k]` are client k's,
    the others repeat one of them. `share` is as in `Batch`."""

    rows: Tensor
    share: Tensor | None
    lengths: Indices


@dataclass(frozen=True)
class SampleWork:
    """What all clients' samples share: where they are stored, and how they are prepared for a network."""

    config: Config
    clock: Clock
    train: Samples
    inputs: Inputs

    @cached_property
    def device(self) -> Device:
        return device_of(self.config.engine.device)

    @cached_property
    def stored(self) -> StoredSamples:
        return StoredSamples(self.train, self.inputs, self.device)

    def input_statistics(self, batch: Batch) -> dict[str, Tensor]:
        """Mean and deviation of the network's inputs; evaluation should show the same."""
        entering = batch.images.flatten(1)
        return {"input/mean/train": entering.mean(1), "input/std/train": _deviations(entering)}

    def steps(self, feeds: Sequence[SampleFeed], epoch: int) -> Iterator[Steps]:
        counts = np.array([feed.n_steps for feed in feeds])
        for step, part in enumerate(self._slices(feeds, counts, epoch)):
            n = len(part.lengths)
            batch = self._batch(feeds[:n], part, epoch, step)
            progress = self.clock.progress(epoch, step / counts[:n])
            yield Steps(epoch * counts[:n] + step, progress, epoch, batch)

    def _slices(self, feeds: Sequence[SampleFeed], counts: Indices, epoch: int) -> list[Slice]:
        """All steps of an epoch; what tells the device which rows they are is copied at once."""
        size, seed, twice = self.config.client.batch, self.config.seed, 1 + self._has_views
        lengths = np.array([feed.samples for feed in feeds])
        orders = np.zeros((len(feeds), lengths.max()), dtype=np.int64)
        for k, feed in enumerate(feeds):
            orders[k, : lengths[k]] = feed.owned[shuffled(lengths[k], seed, epoch, feed.task.client)]
        found = []
        for step in range(counts.max()):
            n = int((counts > step).sum())
            ends = np.where(counts[:n] == step + 1, lengths[:n], (step + 1) * size)
            own = ends - step * size
            rows = torch.from_numpy(_filled(orders[:n], step * size, ends))
            found.append(Slice(rows, _shares(twice * own), own))
        there = self.device.there(found)
        if self.stored.is_resident:
            return there
        return [moved._replace(rows=part.rows) for moved, part in zip(there, found, strict=True)]

    @property
    def _has_views(self) -> bool:
        return self.config.client.augment == "two-view"

    def _batch(self, feeds: Sequence[SampleFeed], part: Slice, epoch: int, step: int) -> Batch:
        recalled = [feed.memory() for feed in feeds]
        kept = {name: torch.stack([memory[name] for memory in recalled]) for name in recalled[0]}
        if self._has_views:
            seeds = [stream_seed(self.config.seed, "views", epoch, feed.task.client, step) for feed in feeds]
            views, labels = self._two_views(part, seeds)
            return Batch(views, labels, part.share, kept)
        inputs, labels = self.stored.prepared(part.rows.flatten())
        shape = part.rows.shape
        return Batch(inputs.view(*shape, *inputs.shape[1:]), labels.view(shape), part.share, kept)

    def _two_views(self, part: Slice, seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Two views, drawn for each client's own batch; padding is added afterwards."""
        views, labels = [], []
        for own, length, seed in zip(part.rows, part.lengths.tolist(), seeds, strict=True):
            drawn, known = self.stored.two_views(own[:length], seed)
            padding = 2 * (len(own) - length)
            views.append(_padded(drawn, padding))
            labels.append(_padded(known.repeat(2), padding))
        return views[0][None] if len(views) == 1 else torch.stack(views), torch.stack(labels)


def _deviations(rows: Tensor) -> Tensor:
    """Sample deviation of each row [N, D]; `rows.std(1)` uses no vector instructions and takes ten times as long."""
    exact = precise(rows)
    centred = exact - exact.mean(1, keepdim=True)
    lengths: Tensor = centred.norm(dim=1)
    return (lengths / sqrt(rows.shape[1] - 1)).to(rows.dtype)


def _padded(rows: Tensor, n: int) -> Tensor:
    """The rows, and `n` times the first."""
    return torch.cat([rows, rows[:1].expand(n, *rows.shape[1:])]) if n else rows


def _filled(orders: Indices, start: int, ends: Indices) -> Indices:
    """[K, B]: each client's samples from `start` to its end, padded by repeating the first of them."""
    columns = start + np.arange(int(ends.max()) - start)
    there = orders[:, columns]
    return there if ends.min() == ends.max() else np.where(columns < ends[:, None], there, there[:, :1])


def _shares(lengths: Indices) -> Tensor | None:
    """[K, B]; None if all clients' batches have the same length."""
    if lengths.min() == lengths.max():
        return None
    own = torch.from_numpy(lengths)[:, None]
    return (torch.arange(int(lengths.max())) < own) / own


class SampleFeed:
    rows = None

    def __init__(self, work: SampleWork, task: Task, owned: Indices, counts: Labels, memory: State) -> None:
        self.work, self.task, self.owned, self.counts = work, task, owned, counts
        self._memory: State = work.device.there(dict(memory))

    @property
    def samples(self) -> int:
        return len(self.owned)

    @property
    def n_steps(self) -> int:
        return n_batches(len(self.owned), self.work.config.client.batch)

    def observe(self, memory: State) -> None:
        self._memory = memory

    def unread(self) -> State:
        return self._memory

    def settle(self, home: State) -> None:
        self._memory = home

    def memory(self) -> State:
        return self._memory

    def own(self, network: nn.Module, models: Sequence[State]) -> OwnSamples:
        """All the client's samples, with models' outputs on them."""
        assert isinstance(network, Classifier)
        everything = self.work.train.take(self.owned)
        reader = InputReader(self.work.inputs, self.work.config.evaluate.batch, self.work.device)
        return OwnSamples(network, None, models, everything, everything, self.counts, reader)

    def report(self) -> State:
        return {}

    def numbers(self) -> dict[str, float]:
        return {}
