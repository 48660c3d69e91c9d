"""Samples, their sums, and clients that own parts of them, for the heads in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from types import SimpleNamespace

import torch
from torch import Tensor

from equipoise.core.values import State
from equipoise.method.answers import Method
from equipoise.server.merge import ServerState
from equipoise.server.sums import ON_CPU

D, C = 6, 4


def samples(n: int = 60, seed: int = 0, n_classes: int = C) -> tuple[Tensor, Tensor]:
    """Features whose means depend on the class, and labels."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % n_classes
    centres = 2 * torch.randn(C, D, generator=draw)
    return torch.randn(n, D, generator=draw) + centres[labels] + 1, labels


@dataclass(frozen=True)
class OneClient:
    """What a method's report reads of a finished task."""

    x: Tensor
    labels: Tensor
    head: object = None

    def own(self) -> OneClient:
        return self

    @property
    def counts(self) -> Tensor:
        return torch.bincount(self.labels, minlength=C)

    @property
    def reader(self) -> SimpleNamespace:
        return SimpleNamespace(device=ON_CPU)

    @property
    def network(self) -> SimpleNamespace:
        return SimpleNamespace(head=self.head)

    def pieces(self) -> Iterator[tuple[Tensor, Tensor]]:
        yield self.x, self.labels


def head(method: Method, x: Tensor, labels: Tensor, owner: Tensor | None = None, own_head: object = None) -> State:
    """The head that the server makes of the reports of clients who own these samples."""
    owner = torch.zeros(len(labels), dtype=torch.int64) if owner is None else owner
    exchange = method.exchange
    assert exchange.report is not None
    assert exchange.sums is not None
    clients = [OneClient(x[owner == k], labels[owner == k], own_head) for k in owner.unique().tolist()]
    reports = [exchange.sums(exchange.report(client)) for client in clients]  # type: ignore[arg-type]
    total = reduce(lambda one, other: {name: one[name] + other[name] for name in one}, reports)
    merged = method.merge(ServerState({}, sums=total), [])  # type: ignore[operator]
    found: State = merged.model
    return found


def scores(found: State, x: Tensor) -> Tensor:
    return x @ found["head.weight"].T + found["head.bias"]
