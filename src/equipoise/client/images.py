"""A client's images as steps: shuffled, normalised, in one view or in two, each draw from the client's own streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.client.batches import n_batches, shuffled
from equipoise.client.feed import Steps
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.streams import stream_seed
from equipoise.core.values import Images, Indices, Labels, State, Task
from equipoise.data.augment import normalise, two_views
from equipoise.models.classifier import Classifier
from equipoise.models.look import Lens, Summary, look
from equipoise.objective.compose import Batch


@dataclass(frozen=True)
class ImageWork:
    """What every client's images have in common: where they lie, how they are read, and what is reported of them."""

    config: Config
    clock: Clock
    train: Images
    mean: tuple[float, ...]
    std: tuple[float, ...]
    report: Summary | None = None

    @property
    def reports(self) -> bool:
        return self.report is not None

    def entering(self, batch: Batch) -> dict[str, Tensor]:
        """Mean and deviation of what enters the network; in evaluation they should not differ."""
        images = batch.images.flatten(1)
        return {"input/mean/train": images.mean(1), "input/std/train": images.std(1)}

    def steps(self, feeds: Sequence[ImageFeed], epoch: int) -> Iterator[Steps]:
        size, seed = self.config.client.batch, self.config.seed
        lengths = np.array([feed.samples for feed in feeds])
        counts = np.array([feed.n_steps for feed in feeds])
        orders = np.zeros((len(feeds), lengths.max()), dtype=np.int64)
        for k, feed in enumerate(feeds):
            orders[k, : lengths[k]] = feed.owned[shuffled(lengths[k], seed, epoch, feed.task.client)]
        for step in range(counts.max()):
            n = int((counts > step).sum())
            ends = np.where(counts[:n] == step + 1, lengths[:n], (step + 1) * size)
            images = _filled(orders[:n], step * size, ends)
            batch = self._batch(feeds[:n], images, ends - step * size, epoch, step)
            progress = self.clock.progress(epoch, step / counts[:n])
            yield Steps(epoch * counts[:n] + step, progress, epoch, batch)

    def _batch(self, feeds: Sequence[ImageFeed], images: Indices, lengths: Indices, epoch: int, step: int) -> Batch:
        """`images` [K, B] of the training set, of which each client's first `lengths` count."""
        recalled = [feed.memory() for feed in feeds]
        kept = {name: torch.stack([memory[name] for memory in recalled]) for name in recalled[0]}
        if self.config.client.augment == "two-view":
            seeds = [stream_seed(self.config.seed, "views", epoch, feed.task.client, step) for feed in feeds]
            views, labels = self._two_views(images, lengths, seeds)
            return Batch(views, labels, _shares(2 * lengths), kept)
        taken = self.train.take(images.reshape(-1))
        pixels = normalise(torch.from_numpy(taken.pixels), self.mean, self.std)
        labels = torch.from_numpy(taken.labels).view(images.shape)
        return Batch(pixels.view(*images.shape, *pixels.shape[1:]), labels, _shares(lengths), kept)

    def _two_views(self, images: Indices, lengths: Indices, seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Every client's views are drawn for its own batch; the filling comes after both."""
        views, labels = [], []
        for own, length, seed in zip(images, lengths, seeds, strict=True):
            taken = self.train.take(own[:length])
            drawn = two_views(torch.from_numpy(taken.pixels), self.mean, self.std, seed)
            fill = torch.zeros(2 * (len(own) - int(length)), dtype=torch.int64)
            views.append(torch.cat([drawn, drawn[fill]]) if len(fill) else drawn)
            known = torch.from_numpy(taken.labels).repeat(2)
            labels.append(torch.cat([known, known[fill]]))
        return views[0][None] if len(views) == 1 else torch.stack(views), torch.stack(labels)


def _filled(orders: Indices, start: int, ends: Indices) -> Indices:
    """[K, B]: each client's images from `start` to its end; what it lacks is its first, over and over."""
    columns = start + np.arange(int(ends.max()) - start)
    there = orders[:, columns]
    return there if ends.min() == ends.max() else np.where(columns < ends[:, None], there, there[:, :1])


def _shares(lengths: Indices) -> Tensor | None:
    """[K, B]; None where all are as long as each other."""
    if lengths.min() == lengths.max():
        return None
    own = torch.from_numpy(lengths)[:, None]
    return (torch.arange(int(lengths.max())) < own) / own


class ImageFeed:
    rows = None

    def __init__(self, work: ImageWork, task: Task, owned: Indices, counts: Labels) -> None:
        self.work, self.task, self.owned, self.counts = work, task, owned, counts
        self._memory = task.own.memory

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

    def report(self, model: nn.Module) -> State:
        if self.work.report is None:
            return {}
        assert isinstance(model, Classifier)
        own = self.work.train.take(self.owned)
        lens = Lens(self.work.mean, self.work.std, self.work.config.evaluate.batch)
        return self.work.report([look(model, own.pixels, lens)], torch.from_numpy(own.labels))

    def numbers(self) -> dict[str, float]:
        return {}
