"""The numbers of a checkpoint as points of a tracker's curves.

accuracy/merged     the server's
client_3/lam        client 3's
clients/lam         the mean over all clients, if not every client has a curve of its own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from equipoise.store.sent import StepNumbers, step_numbers
from equipoise.store.transact import Store

Item = TypeVar("Item")
LEFT_OUT = ("rank/",)
"""Prefixes of numbers that are not curves: ranks of single users."""


class Point(NamedTuple):
    step: int
    tag: str
    value: float


def points_of(store: Store, run_id: str, step: int, names: Sequence[str], own: int | None) -> list[Point]:
    """The points of one checkpoint; clients below `own` have curves of their own, None means all of them."""
    curves = [name for name in names if not name.startswith(LEFT_OUT)]
    return tagged(step, step_numbers(store, run_id, step, curves, own))


def tagged(step: int, numbers: StepNumbers) -> list[Point]:
    single = [Point(step, tag_of(client, name), value) for client, name, value in numbers.single]
    return single + [Point(step, f"clients/{name}", value) for name, value in numbers.means]


def tag_of(client: int | None, name: str) -> str:
    """
    >>> tag_of(3, "lam"), tag_of(None, "accuracy/merged")
    ('client_3/lam', 'accuracy/merged')
    """
    return name if client is None else f"client_{client}/{name}"


def in_batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[first : first + size] for first in range(0, len(items), size)]
