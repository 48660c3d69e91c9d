"""A site holds what the machines that run clients need, for any kind of data.

It makes the training recipe, answers the server's questions, and can be sent to another process as arrays and facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Event, Indices, Labels, State, Task

if TYPE_CHECKING:
    from torch import nn

    from equipoise.client.recipe import Recipe
    from equipoise.config.schema import Config
    from equipoise.evaluate.judge import Judge
    from equipoise.partition.divide import Partition

Arrays = Mapping[str, NDArray[Any]]
Shared = tuple[Arrays, Mapping[str, Any]]


class Site(Protocol):
    """The configuration, the training data and its owners."""

    @property
    def config(self) -> Config: ...

    @property
    def n_clients(self) -> int: ...

    @property
    def is_listed(self) -> bool:
        """Whether all clients can be iterated over; False if they are generated on demand."""

    @property
    def together(self) -> int:
        """How many clients train along one axis."""

    def counts(self, client: int) -> Labels:
        """A client's number of samples of each class."""

    def samples(self, client: int) -> int:
        """A client's number of samples."""

    def is_idle(self, client: int, step: int) -> bool:
        """Whether a client has nothing to train on at that step."""

    def recipe(self) -> Recipe: ...

    def answer(self, recipe: Recipe, task: Task) -> State:
        """A client's answer to the task's question."""

    def multiply_adds(self) -> int | None:
        """Multiply-adds of one sample's forward pass; None if they are not counted."""

    def only(self, clients: Collection[int]) -> Site:
        """The site of a machine that holds these clients, and no data of others."""

    def shared(self) -> Shared:
        """What other processes need to build the same site: arrays, and facts as JSON values."""


def nothing(start: State) -> State:
    return {}


@dataclass(frozen=True)
class Built:
    """What a kind of data builds from a configuration."""

    partition: Partition
    site: Site
    judge: Judge
    model: nn.Module
    notes: tuple[Event, ...] = ()
    """Notes of the data's reader."""
    first_broadcast: Callable[[State], State] = nothing
    """The common start → what the server sends beside it before the first step."""


def ragged(name: str, parts: Sequence[Indices]) -> dict[str, NDArray[Any]]:
    """Arrays of different lengths concatenated, and the offset of each."""
    return {name: np.concatenate(parts), f"{name}.bounds": np.cumsum([0, *(len(part) for part in parts)])}


def unragged(name: str, arrays: Arrays) -> list[Indices]:
    whole, bounds = arrays[name], arrays[f"{name}.bounds"]
    return [whole[start:stop] for start, stop in pairwise(bounds)]
