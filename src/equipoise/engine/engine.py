"""What an engine is: a place where clients run. It is given tasks and gives back one result for each.

Results come cohort by cohort, which is the order of the tasks only where no clients train together; each says whose it
is.

map(tasks) → results        work(cohort) → one result each, the same on every engine
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from equipoise.client.train import Recipe, train
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.registry import BALANCES
from equipoise.core.values import Event, Indices, Labels, Result, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.method.added import added, made
from equipoise.method.answers import Method
from equipoise.server.prototypes import merge_prototypes

Arrays = Mapping[str, NDArray[Any]]
Shared = tuple[Arrays, Mapping[str, Any]]
Work = Callable[[Sequence[Task]], list[Result]]


class Engine(Protocol):
    """`map` may begin before its results are asked for; `take_events` gives what happened since it was last asked: a
    lost worker, a client run again."""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]: ...

    def take_events(self) -> list[Event]: ...

    def close(self) -> None: ...


class Site(Protocol):
    """What the machines that run clients hold: the configuration, the training data, and who owns which."""

    @property
    def config(self) -> Config: ...

    @property
    def n_clients(self) -> int: ...

    @property
    def together(self) -> int:
        """How many clients train along one axis."""

    def counts(self, client: int) -> Labels:
        """How many samples of each class a client has."""

    def samples(self, client: int) -> int:
        """How many samples a client has."""

    def is_idle(self, client: int, step: int) -> bool:
        """Whether a client has nothing to train on at that step."""

    def recipe(self) -> Recipe: ...

    def shared(self) -> Shared:
        """What other processes need to have the same site: arrays, and facts as JSON takes them."""


def ragged(name: str, parts: Sequence[Indices]) -> dict[str, NDArray[Any]]:
    """Arrays of different lengths as one, and where each begins."""
    return {name: np.concatenate(parts), f"{name}.bounds": np.cumsum([0, *(len(part) for part in parts)])}


def unragged(name: str, arrays: Arrays) -> list[Indices]:
    whole, bounds = arrays[name], arrays[f"{name}.bounds"]
    return [whole[start:stop] for start, stop in pairwise(bounds)]


def clock_of(config: Config) -> Clock:
    rounds = 1 if config.is_one_shot else config.steps
    return Clock(config.steps, config.client.epochs * rounds)


def carries(config: Config, method: Method) -> bool:
    """Whether clients go on from their own model, because nothing is sent down to them."""
    return config.is_one_shot or not method.sends_down


def method_of(config: Config) -> Method:
    """The method, with the configuration's λ policy, merge and predict where it leaves those answers open."""
    method = added(made(config), config)
    return replace(
        method,
        balance=method.balance or BALANCES.find(config.balance.name).make(config.balance),
        merge=method.merge or merge_prototypes(config.server.merge or "plain"),
        predict=config.server.predict or method.predict,
    )


def make_work(site: Site) -> Work:
    """The work of a client machine, ready to be given a cohort."""
    torch.set_num_threads(site.config.engine.threads)
    keep_freed_memory()
    recipe = site.recipe()

    def work(tasks: Sequence[Task]) -> list[Result]:
        try:
            return train(recipe, tasks)
        except EquipoiseError:
            raise
        except Exception as error:
            who = ", ".join(str(task.client) for task in tasks)
            n_samples = sum(site.samples(task.client) for task in tasks)
            where = f"checkpoint {tasks[0].step + 1}, client {who}, {n_samples} samples"
            raise ClientError(f"client {who} failed: {type(error).__name__}: {error}", where=where) from error

    return work


def cohorts(site: Site, tasks: Sequence[Task]) -> list[list[int]]:
    """Which tasks are worked on together, by their places; clients of like size, the largest first."""
    if site.together == 1:
        return [[place] for place in range(len(tasks))]
    sizes = [site.samples(task.client) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda place: -sizes[place])
    return [order[first : first + site.together] for first in range(0, len(order), site.together)]
