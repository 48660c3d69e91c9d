"""The site of an image federation: the training images, and who owns which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from equipoise.client.images import ImageFeed, ImageWork
from equipoise.client.train import Recipe
from equipoise.config.schema import Config
from equipoise.core.values import Images, Indices, Labels, Task
from equipoise.engine.engine import Arrays, Shared, carries, clock_of, method_of, ragged, unragged
from equipoise.engine.together import ENOUGH, how_many
from equipoise.models.build import build_model
from equipoise.partition.drawn import Drawn, DrawnOptions, drawn


@dataclass(frozen=True)
class ImageSite:
    config: Config
    train: Images
    indices: Sequence[Indices]
    n_classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def n_clients(self) -> int:
        return len(self.indices)

    def counts(self, client: int) -> Labels:
        return self.count(self.train.labels[self.indices[client]])

    def samples(self, client: int) -> int:
        return len(self.indices[client])

    def count(self, labels: Labels) -> Labels:
        return np.bincount(labels, minlength=self.n_classes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width as the network sees them: one-channel images are repeated to three."""
        return (3, *self.train.pixels.shape[2:])

    def shared(self) -> Shared:
        images: Arrays = {"pixels": self.train.pixels, "labels": self.train.labels}
        owned = {} if isinstance(self.indices, Drawn) else ragged("owned", self.indices)
        return {**images, **owned}, {
            "n_classes": self.n_classes,
            "mean": self.mean,
            "std": self.std,
        }

    @classmethod
    def of_shared(cls, config: Config, arrays: Arrays, facts: Mapping[str, Any]) -> ImageSite:
        images = Images(arrays["pixels"], arrays["labels"])
        indices: Sequence[Indices]
        if "owned" in arrays:
            indices = unragged("owned", arrays)
        else:  # clients that are drawn when they are asked for: the rule says all
            assert isinstance(config.partition, DrawnOptions)
            indices = drawn(images.labels, facts["n_classes"], config.partition, config.seed)
        return cls(config, images, indices, facts["n_classes"], tuple(facts["mean"]), tuple(facts["std"]))

    def is_idle(self, client: int, step: int) -> bool:
        return False

    @cached_property
    def together(self) -> int:
        """As many as asked for, or as pay."""
        config, method = self.config, method_of(self.config)
        if config.engine.together is not None:
            return config.engine.together
        cohort = max(1, round(config.server.fraction * self.n_clients))
        if not method.maps or cohort < ENOUGH:
            return 1
        model = build_model(config.model, self.shape, self.n_classes, config.seed, method.head)
        batch = config.client.batch * (2 if config.client.augment == "two-view" else 1)
        return how_many(model, torch.zeros(1, *self.shape), batch, cohort)

    def recipe(self) -> Recipe:
        config, method = self.config, method_of(self.config)
        model = build_model(config.model, self.shape, self.n_classes, config.seed, method.head)
        assert method.balance is not None, "method_of fills in what a method leaves open"
        work = ImageWork(config, clock_of(config), self.train, self.mean, self.std, method.report)

        def feed(task: Task) -> ImageFeed:
            return ImageFeed(work, task, self.indices[task.client], self.counts(task.client))

        return Recipe(config, model, method.objective, method.balance, work, feed, carries(config, method))
