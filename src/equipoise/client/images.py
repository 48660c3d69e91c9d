"""A client's images as steps: shuffled, normalised, in one view or in two, each draw from the client's own streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.client.batches import batches, n_batches
from equipoise.client.feed import Step
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.streams import stream_seed
from equipoise.core.values import Images, Indices, Labels, Moment, State, Task
from equipoise.data.augment import normalise, two_views
from equipoise.models.classifier import Classifier
from equipoise.models.look import Lens, Summary, look
from equipoise.objective.compose import Batch


class Draw(NamedTuple):
    """One step's images, by their place in the training set; where its views are drawn from; what was remembered."""

    images: Indices
    seed: int
    recalled: State


@dataclass(frozen=True)
class ImageWork:
    """What every client's images have in common: where they lie, how they are read, and what is told of them."""

    config: Config
    clock: Clock
    train: Images
    mean: tuple[float, ...]
    std: tuple[float, ...]
    tell: Summary | None = None

    @property
    def tells(self) -> bool:
        return self.tell is not None

    def entering(self, batch: Batch) -> dict[str, Tensor]:
        """Mean and deviation of what enters the network; in evaluation they should not differ."""
        images = batch.images.flatten(1)
        return {"input/mean/train": images.mean(1), "input/std/train": images.std(1)}

    def collate(self, draws: Sequence[Draw]) -> Batch:
        """One batch with the clients' axis in front; shorter ones are filled up, and the filling has no share."""
        lengths = [len(draw.images) for draw in draws]
        if self.config.client.augment == "two-view":
            return self._two_views(draws, lengths)
        longest = max(lengths)
        where = np.stack([_filled(draw.images, longest) for draw in draws])
        taken = self.train.take(where.reshape(-1))
        images = normalise(torch.from_numpy(taken.pixels), self.mean, self.std)
        labels = torch.from_numpy(taken.labels).view(where.shape)
        return Batch(images.view(*where.shape, *images.shape[1:]), labels, _shares(lengths), _recalled(draws))

    def _two_views(self, draws: Sequence[Draw], lengths: Sequence[int]) -> Batch:
        """Every client's views are drawn for its own batch, before it is filled up."""
        images, labels = [], []
        for draw, length in zip(draws, lengths, strict=True):
            taken = self.train.take(draw.images)
            views = two_views(torch.from_numpy(taken.pixels), self.mean, self.std, draw.seed)
            fill = torch.from_numpy(_filled(np.arange(2 * length), 2 * max(lengths)))
            images.append(views[fill] if len(fill) > 2 * length else views)
            labels.append(torch.from_numpy(taken.labels).repeat(2)[fill])
        stacked = images[0][None] if len(images) == 1 else torch.stack(images)
        return Batch(stacked, torch.stack(labels), _shares([2 * n for n in lengths]), _recalled(draws))


def _filled(rows: Indices, length: int) -> Indices:
    """As many rows as that, the first one over and over at the end."""
    return rows if len(rows) == length else np.concatenate([rows, np.full(length - len(rows), rows[0])])


def _shares(lengths: Sequence[int]) -> Tensor | None:
    """[K, B]; None where all are as long as each other."""
    if min(lengths) == max(lengths):
        return None
    own = torch.tensor(lengths)[:, None]
    return (torch.arange(max(lengths)) < own) / own


def _recalled(draws: Sequence[Draw]) -> State:
    """What clients remember is of one shape, or there is one client."""
    return {name: torch.stack([draw.recalled[name] for draw in draws]) for name in draws[0].recalled}


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

    def steps(self, epoch: int) -> Iterator[Step]:
        seed, options, client = self.work.config.seed, self.work.config.client, self.task.client
        order = batches(len(self.owned), options.batch, seed, epoch, client)
        for step, index in enumerate(order):
            moment = Moment(self.work.clock.progress(epoch, step / len(order)), self.counts, epoch)
            views = stream_seed(seed, "views", epoch, client, step) if options.augment == "two-view" else 0
            yield Step(epoch * len(order) + step, moment, Draw(self.owned[index], views, self._memory))

    def observe(self, memory: State) -> None:
        self._memory = memory

    def memory(self) -> State:
        return self._memory

    def told(self, model: nn.Module) -> State:
        if self.work.tell is None:
            return {}
        assert isinstance(model, Classifier)
        own = self.work.train.take(self.owned)
        lens = Lens(self.work.mean, self.work.std, self.work.config.evaluate.batch)
        return self.work.tell([look(model, own.pixels, lens)], torch.from_numpy(own.labels))

    def numbers(self) -> dict[str, float]:
        return {}
