"""Slices of a stream: where they are cut, when each is trained on, what of them is scored."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import DataError
from equipoise.data import slices as module
from equipoise.data.slices import equal_moments, equal_parts, first_positions, slice_of


def test_moments_share_out_the_interactions_evenly():
    assert equal_moments(np.array([9, 0, 1, 1, 5, 7, 8, 8]), 4) == (1, 7, 8)  # 1 | 3 | 1 | 3: equal times stay together
    assert equal_moments(np.arange(10), 5) == (2, 4, 6, 8)


def test_a_slice_that_would_be_empty_is_refused():
    with pytest.raises(DataError, match="2 different moments cannot be cut into 3 slices") as caught:
        equal_moments(np.array([1, 1, 2, 2]), 3)
    assert caught.value.where == "data.slices=3"
    assert "data.cut=positions" in caught.value.fix


def test_parts_of_each_users_own_history():
    assert [cut.tolist() for cut in equal_parts(np.array([7, 3, 9]), 3)] == [[2, 1, 3], [4, 2, 6]]


@given(each=st.integers(1, 5), slices=st.integers(2, 8))
def test_every_slice_but_the_last_is_trained_on_equally_often_and_in_order(each, slices):
    rounds = each * (slices - 1)
    assert [slice_of(step, rounds, slices) for step in range(rounds)] == [
        s for s in range(slices - 1) for _ in range(each)
    ]
    assert slice_of(rounds, rounds, slices) == slices - 1  # what would come next is never trained on


def test_the_first_items_of_a_slice_and_nothing_that_nothing_precedes():
    slices = np.array([[0, 3, 9], [0, 0, 2], [0, 4, 4]])
    users, at = first_positions(slices, 1, 2)
    assert list(zip(users.tolist(), at.tolist(), strict=True)) == [(0, 3), (0, 4), (1, 1)]
    users, at = first_positions(slices, 0, 5)
    assert list(zip(users.tolist(), at.tolist(), strict=True)) == [(0, 1), (0, 2), (2, 1), (2, 2), (2, 3)]


def test_examples():
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
