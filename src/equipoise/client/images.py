"""A client's images as steps: shuffled, normalised, in one view or in two, each draw from the client's own streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from equipoise.client.batches import batches
from equipoise.client.feed import Step
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.streams import stream_seed
from equipoise.core.values import Images, Labels, Moment, State, Task
from equipoise.data.augment import normalise, two_views
from equipoise.models.classifier import Classifier
from equipoise.models.look import Lens, Summary, entering, look
from equipoise.objective.compose import Batch


@dataclass(frozen=True)
class ImageWork:
    """What every client's images have in common: how they are read, and what is told of them."""

    config: Config
    clock: Clock
    mean: tuple[float, ...]
    std: tuple[float, ...]
    tell: Summary | None = None


class ImageFeed:
    rows = None

    def __init__(self, work: ImageWork, task: Task, images: Images, counts: Labels) -> None:
        self.work, self.task, self.images, self.counts = work, task, images, counts
        self._memory = task.own.memory
        self._entering: dict[str, float] = {}

    @property
    def samples(self) -> int:
        return len(self.images)

    @property
    def n_steps(self) -> int:
        return len(self.task.epochs) * len(batches(len(self.images), self.work.config.client.batch, 0, 0, 0))

    def steps(self) -> Iterator[Step]:
        """Noise inside the network comes from the epoch's stream, through torch's global generator."""
        seed, options, client = self.work.config.seed, self.work.config.client, self.task.client
        for epoch in self.task.epochs:
            torch.manual_seed(stream_seed(seed, "noise", epoch, client))
            order = batches(len(self.images), options.batch, seed, epoch, client)
            for step, index in enumerate(order):
                moment = Moment(self.work.clock.progress(epoch, step / len(order)), self.counts, epoch)
                batch = self._batch(self.images.take(index), stream_seed(seed, "views", epoch, client, step))
                self._entering = self._entering or entering(batch.images, "train")
                yield Step(epoch * len(order) + step, moment, batch)

    def observe(self, memory: State) -> None:
        self._memory = memory

    def memory(self) -> State:
        return self._memory

    def told(self, model: nn.Module) -> State:
        if self.work.tell is None:
            return {}
        assert isinstance(model, Classifier)
        lens = Lens(self.work.mean, self.work.std, self.work.config.evaluate.batch)
        return self.work.tell([look(model, self.images.pixels, lens)], torch.from_numpy(self.images.labels))

    def numbers(self) -> dict[str, float]:
        """What entered the network first."""
        return self._entering

    def _batch(self, images: Images, draw: int) -> Batch:
        pixels, labels = torch.from_numpy(images.pixels), torch.from_numpy(images.labels)
        mean, std = self.work.mean, self.work.std
        if self.work.config.client.augment == "two-view":
            return Batch(two_views(pixels, mean, std, draw), labels.repeat(2), self._memory)
        return Batch(normalise(pixels, mean, std), labels, self._memory)
