"""What an engine is: a place where clients run. It is given tasks and gives back results, in the order of the tasks.

map(tasks) → results        work(task) → one result, the same on every engine
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from equipoise.client.train import Recipe, train
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError, EquipoiseError, NonFinite
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientFailure, ClientUpdate, Event, Images, Indices, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.method.answers import Method
from equipoise.models.build import build_model

Result = ClientUpdate | ClientFailure
Work = Callable[[Task], Result]


class Engine(Protocol):
    """`take_events` gives what happened since it was last asked: a lost worker, a client run again."""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]: ...

    def take_events(self) -> list[Event]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Site:
    """What the machines that run clients hold: the configuration, the training images, and who owns which."""

    config: Config
    train: Images
    indices: Sequence[Indices]
    n_classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width as the network sees them: one-channel images are repeated to three."""
        return (3, *self.train.pixels.shape[2:])


def clock_of(config: Config) -> Clock:
    rounds = 1 if config.is_one_shot else config.steps
    return Clock(config.steps, config.client.epochs * rounds)


def method_of(config: Config) -> Method:
    method = METHODS.find(config.method.name).make(config.method)
    assert isinstance(method, Method)
    return method


def make_work(site: Site) -> Work:
    """The work of a client machine, ready to be given tasks."""
    config, method = site.config, method_of(site.config)
    torch.set_num_threads(config.engine.threads)
    keep_freed_memory()
    model = build_model(config.model, site.shape, site.n_classes, config.seed)
    recipe = Recipe(config, clock_of(config), model, method.objective, method.balance, site.mean, site.std)

    def work(task: Task) -> Result:
        images = site.train.take(site.indices[task.client])
        counts = np.bincount(images.labels, minlength=site.n_classes)
        try:
            return train(recipe, task, images, counts)
        except NonFinite as error:
            return ClientFailure(task.client, "non-finite", str(error))
        except EquipoiseError:
            raise
        except Exception as error:
            where = f"checkpoint {task.step + 1}, client {task.client}, {len(images)} images"
            raise ClientError(f"client {task.client} failed: {type(error).__name__}: {error}", where=where) from error

    return work
