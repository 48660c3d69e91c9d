from __future__ import annotations

import numpy as np
import pytest

from equipoise.kind.site import nothing, ragged, unragged


@pytest.mark.parametrize(
    "parts",
    [
        [[3, 1, 2], [], [7]],
        [[], []],
        [[5]],
        [[0], [1], [2]],
    ],
)
def test_arrays_of_different_lengths_come_back(parts):
    arrays = ragged("owned", [np.array(part, dtype=np.int64) for part in parts])
    assert arrays.keys() == {"owned", "owned.bounds"}
    assert arrays["owned"].tolist() == [number for part in parts for number in part]
    back = unragged("owned", arrays)
    assert [part.tolist() for part in back] == parts
    assert all(part.dtype == np.int64 for part in back)


def test_where_each_begins_and_the_last_ends():
    arrays = ragged("users", [np.arange(3), np.arange(0), np.arange(2)])
    assert arrays["users.bounds"].tolist() == [0, 3, 3, 5]


def test_two_lists_do_not_mix():
    arrays = ragged("a", [np.array([1])]) | ragged("b", [np.array([2]), np.array([3])])
    assert [part.tolist() for part in unragged("a", arrays)] == [[1]]
    assert [part.tolist() for part in unragged("b", arrays)] == [[2], [3]]


def test_without_a_teacher_nothing_is_sent_beside_the_start():
    assert nothing({"w": None}) == {}
