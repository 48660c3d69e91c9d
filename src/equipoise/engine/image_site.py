"""The site of an image federation: the training images, and who owns which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.client.images import ImageFeed, ImageWork
from equipoise.client.train import Recipe
from equipoise.config.schema import Config
from equipoise.core.values import Images, Indices, Labels, Task
from equipoise.engine.engine import Arrays, Shared, clock_of, method_of, ragged, unragged
from equipoise.models.build import build_model


@dataclass(frozen=True)
class ImageSite:
    config: Config
    train: Images
    indices: Sequence[Indices]
    n_classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    together: int = 1

    @property
    def n_clients(self) -> int:
        return len(self.indices)

    def counts(self, client: int) -> Labels:
        return self.count(self.train.labels[self.indices[client]])

    def count(self, labels: Labels) -> Labels:
        return np.bincount(labels, minlength=self.n_classes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width as the network sees them: one-channel images are repeated to three."""
        return (3, *self.train.pixels.shape[2:])

    def shared(self) -> Shared:
        images: Arrays = {"pixels": self.train.pixels, "labels": self.train.labels}
        return {**images, **ragged("owned", self.indices)}, {
            "n_classes": self.n_classes,
            "mean": self.mean,
            "std": self.std,
        }

    @classmethod
    def of_shared(cls, config: Config, arrays: Arrays, facts: Mapping[str, Any]) -> ImageSite:
        images = Images(arrays["pixels"], arrays["labels"])
        indices = unragged("owned", arrays)
        return cls(config, images, indices, facts["n_classes"], tuple(facts["mean"]), tuple(facts["std"]))

    def is_idle(self, client: int, step: int) -> bool:
        return False

    def recipe(self) -> Recipe:
        config, method = self.config, method_of(self.config)
        model = build_model(config.model, self.shape, self.n_classes, config.seed, method.head)
        assert method.balance is not None, "method_of fills in what a method leaves open"
        work = ImageWork(config, clock_of(config), self.mean, self.std, method.tell)

        def feed(task: Task) -> ImageFeed:
            images = self.train.take(self.indices[task.client])
            return ImageFeed(work, task, images, self.counts(task.client))

        return Recipe(config, work.clock, model, method.objective, method.balance, feed)
