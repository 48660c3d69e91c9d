"""What an engine is: a place where clients run. It is given tasks and gives back results, in the order of the tasks.

map(tasks) → results        work(task) → one result, the same on every engine
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch

from equipoise.client.train import Recipe, train
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError, ConfigError, EquipoiseError, NonFinite, Problem
from equipoise.core.registry import BALANCES, METHODS, PREDICTS
from equipoise.core.values import ClientFailure, ClientUpdate, Event, Images, Indices, Labels, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.method.answers import Method
from equipoise.models.build import build_model
from equipoise.server.means import merge_means
from equipoise.server.predict import NEEDS_GIFT, NEEDS_PROTOTYPES
from equipoise.server.prototypes import merge_prototypes

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

    def counts(self, client: int) -> Labels:
        """How many images of each class a client has."""
        return self.count(self.train.labels[self.indices[client]])

    def count(self, labels: Labels) -> Labels:
        return np.bincount(labels, minlength=self.n_classes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width as the network sees them: one-channel images are repeated to three."""
        return (3, *self.train.pixels.shape[2:])


def clock_of(config: Config) -> Clock:
    rounds = 1 if config.is_one_shot else config.steps
    return Clock(config.steps, config.client.epochs * rounds)


def method_of(config: Config) -> Method:
    """The method, with the configuration's λ policy, merge and predict where it leaves those answers open."""
    method = METHODS.find(config.method.name).make(config.method)
    assert isinstance(method, Method)
    problems = list(_objections(config, method))
    if problems:
        raise ConfigError(problems)
    return replace(
        method,
        balance=method.balance or BALANCES.find(config.balance.name).make(config.balance),
        merge=method.merge or merge_prototypes(config.server.merge or "plain"),
        predict=config.server.predict or method.predict,
    )


def _objections(config: Config, method: Method) -> Iterator[Problem]:
    """Answers that the configuration gives and the method does not leave open."""
    name, server = config.method.name, config.server
    if method.balance is not None and config.balance.name != "none":
        message = f"method '{name}' chooses λ itself; '{config.balance.name}' would do nothing; use method=etf-align"
        yield Problem("balance", message)
    if method.merge is not None and server.merge is not None:
        yield Problem("server.merge", f"method '{name}' has no prototypes to merge")
    if server.predict is not None:
        traits = PREDICTS.find(server.predict).traits
        if method.predict is None:
            yield Problem("server.predict", f"method '{name}' merges nothing that could predict")
        if NEEDS_PROTOTYPES in traits and method.merge is not None:
            yield Problem("server.predict", f"'{server.predict}' needs prototypes, which method '{name}' has not")
        if NEEDS_GIFT in traits and method.merge is not merge_means:
            yield Problem("server.predict", f"'{server.predict}' needs class means, which method '{name}' has not")
    if not config.is_one_shot and getattr(config.method, "target", None) == "progressive":
        yield Problem("method.target", "a path from the start to the anchors needs communication=one-shot")
    if method.teacher is not None and not getattr(config.data, "public", 0):
        yield Problem("data.public", f"method '{name}' needs a public pool: set data.public=0.1")


def recipe_of(site: Site) -> Recipe:
    config, method = site.config, method_of(site.config)
    model = build_model(config.model, site.shape, site.n_classes, config.seed, method.head)
    assert method.balance is not None, "method_of fills in what a method leaves open"
    return Recipe(config, clock_of(config), model, method.objective, method.balance, site.mean, site.std, method.tell)


def make_work(site: Site) -> Work:
    """The work of a client machine, ready to be given tasks."""
    torch.set_num_threads(site.config.engine.threads)
    keep_freed_memory()
    recipe = recipe_of(site)

    def work(task: Task) -> Result:
        images = site.train.take(site.indices[task.client])
        try:
            return train(recipe, task, images, site.counts(task.client))
        except NonFinite as error:
            return ClientFailure(task.client, "non-finite", str(error))
        except EquipoiseError:
            raise
        except Exception as error:
            where = f"checkpoint {task.step + 1}, client {task.client}, {len(images)} images"
            raise ClientError(f"client {task.client} failed: {type(error).__name__}: {error}", where=where) from error

    return work
