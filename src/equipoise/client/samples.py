"""A client's labelled samples as steps: shuffled, prepared, in one view or in two, each draw from its own streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.client.batches import n_batches, shuffled
from equipoise.client.feed import Steps
from equipoise.client.own import OwnSamples
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.streams import stream_seed
from equipoise.core.values import Indices, Labels, Samples, State, Task
from equipoise.data.inputs import Inputs
from equipoise.models.classifier import Classifier
from equipoise.models.outputs import InputReader
from equipoise.objective.compose import Batch


@dataclass(frozen=True)
class SampleWork:
    """What all clients' samples share: where they are stored, and how they are prepared for a network."""

    config: Config
    clock: Clock
    train: Samples
    inputs: Inputs

    def input_statistics(self, batch: Batch) -> dict[str, Tensor]:
        """Mean and deviation of the network's inputs; evaluation should show the same."""
        entering = batch.images.flatten(1)
        return {"input/mean/train": entering.mean(1), "input/std/train": entering.std(1)}

    def steps(self, feeds: Sequence[SampleFeed], epoch: int) -> Iterator[Steps]:
        size, seed = self.config.client.batch, self.config.seed
        lengths = np.array([feed.samples for feed in feeds])
        counts = np.array([feed.n_steps for feed in feeds])
        orders = np.zeros((len(feeds), lengths.max()), dtype=np.int64)
        for k, feed in enumerate(feeds):
            orders[k, : lengths[k]] = feed.owned[shuffled(lengths[k], seed, epoch, feed.task.client)]
        for step in range(counts.max()):
            n = int((counts > step).sum())
            ends = np.where(counts[:n] == step + 1, lengths[:n], (step + 1) * size)
            chosen = _filled(orders[:n], step * size, ends)
            batch = self._batch(feeds[:n], chosen, ends - step * size, epoch, step)
            progress = self.clock.progress(epoch, step / counts[:n])
            yield Steps(epoch * counts[:n] + step, progress, epoch, batch)

    def _batch(self, feeds: Sequence[SampleFeed], chosen: Indices, lengths: Indices, epoch: int, step: int) -> Batch:
        """The batch of rows `chosen` [K, B] of the training set; only the first `lengths[k]` of client k are real."""
        recalled = [feed.memory() for feed in feeds]
        kept = {name: torch.stack([memory[name] for memory in recalled]) for name in recalled[0]}
        if self.config.client.augment == "two-view":
            seeds = [stream_seed(self.config.seed, "views", epoch, feed.task.client, step) for feed in feeds]
            views, labels = self._two_views(chosen, lengths, seeds)
            return Batch(views, labels, _shares(2 * lengths), kept)
        taken = self.train.take(chosen.reshape(-1))
        prepared = self.inputs.prepare(taken.inputs)
        labels = torch.from_numpy(taken.labels).view(chosen.shape)
        return Batch(prepared.view(*chosen.shape, *prepared.shape[1:]), labels, _shares(lengths), kept)

    def _two_views(self, chosen: Indices, lengths: Indices, seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Two views, drawn for each client's own batch; padding is added afterwards."""
        views, labels = [], []
        for own, length, seed in zip(chosen, lengths, seeds, strict=True):
            taken = self.train.take(own[:length])
            drawn = self.inputs.two_views(taken.inputs, seed)
            fill = torch.zeros(2 * (len(own) - int(length)), dtype=torch.int64)
            views.append(torch.cat([drawn, drawn[fill]]) if len(fill) else drawn)
            known = torch.from_numpy(taken.labels).repeat(2)
            labels.append(torch.cat([known, known[fill]]))
        return views[0][None] if len(views) == 1 else torch.stack(views), torch.stack(labels)


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
        self._memory = memory

    @property
    def samples(self) -> int:
        return len(self.owned)

    @property
    def n_steps(self) -> int:
        return n_batches(len(self.owned), self.work.config.client.batch)

    def observe(self, memory: State) -> None:
        self._memory = memory

    def memory(self) -> State:
        return self._memory

    def own(self, network: nn.Module, models: Sequence[State]) -> OwnSamples:
        """All the client's samples, with models' outputs on them."""
        assert isinstance(network, Classifier)
        everything = self.work.train.take(self.owned)
        reader = InputReader(self.work.inputs, self.work.config.evaluate.batch)
        return OwnSamples(network, None, models, everything, everything, self.counts, reader)

    def report(self) -> State:
        return {}

    def numbers(self) -> dict[str, float]:
        return {}
