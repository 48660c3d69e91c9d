"""Negatives that a client draws, and the rows of the item table that it holds."""

from __future__ import annotations

import numpy as np

from equipoise.client.held_rows import NOBODY, HeldRows, held_rows
from equipoise.core.values import Task

from .feeds import feed


def test_rows_and_negatives_are_numbered_as_the_client_holds_them():
    one = feed(range(20, 30), negatives=6, holds_rows=True)
    assert one.rows is not None
    assert len(one.rows) == 16
    (step, *_) = one.steps(0)
    windows = step
    held = windows.rows.numpy()
    assert (held[windows.targets[windows.valid]] == held[windows.items[windows.valid]] + 1).all()
    drawn = held[windows.negatives.numpy()]
    assert len(drawn) == 6
    assert not set(drawn) & set(range(20, 30))


def test_items_are_numbered_by_the_rows_and_padding_is_the_first():
    held = HeldRows(np.array([3, 7, 9]), np.empty(0, dtype=np.int64))
    assert held.local(np.array([[7, 9], [3, 0]])).tolist() == [[1, 2], [0, 0]]
    assert HeldRows(None, held.negatives).local(np.array([7])).tolist() == [7]


def test_a_list_of_negatives_is_filled_up_where_too_few_items_are_unmet():
    work = feed(range(20, 30), negatives=6, holds_rows=True).work
    held = held_rows(work, Task(0, 7, range(1), {}), np.arange(48))  # of 50 items two are left
    assert sorted(held.negatives.tolist()) == [NOBODY] * 4 + [48, 49]
    assert held.rows is not None
    assert held.rows.tolist() == list(range(50))


def test_each_task_draws_its_own_negatives():
    work = feed(range(20, 30), negatives=6).work
    first, again, later, other = (
        held_rows(work, Task(step, client, range(1), {}), np.arange(20)).negatives.tolist()
        for step, client in ((0, 7), (0, 7), (1, 7), (0, 8))
    )
    assert first == again
    assert len({tuple(drawn) for drawn in (first, later, other)}) == 3
    assert min(first) >= 20
