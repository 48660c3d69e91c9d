"""What experts read: the newest items, or what memory holds that is nearest to what the user wants."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.memory.recall import HistoryMemory, last_items, query, read_memory, read_recent, standardised
from equipoise.memory.settings import MemoryOptions


def test_the_newest_items_stand_last():
    items, valid = last_items(np.array([5, 6, 7]), [2, 0], 3)
    assert (items * valid).tolist() == [[0, 5, 6], [0, 0, 0]]
    assert valid.tolist() == [[False, True, True], [False] * 3]


def test_a_position_that_was_never_trained_on_surprises_nobody():
    z = standardised(np.array([-1, 3, 1], np.float32), np.array([2, 0.5], np.float32))
    assert z.tolist() == [0, 2, -2]


@pytest.mark.parametrize(("has_features", "expected"), [(True, list(range(5, 25))), (False, [24])])
def test_without_a_dynamic_memory_the_newest_items_are_read(has_features, expected):
    items, valid = read_recent(np.arange(40), 25, has_features)
    assert items.tolist() == expected
    assert valid.all()
    items, valid = read_recent(np.array([7, 8]), 1, has_features)
    assert items[valid].tolist() == [7]
    assert not items[~valid].any()


def test_the_query_is_the_direction_of_the_recent_items():
    assert query(np.array([[3, 0], [0, 4]], np.float32)).tolist() == pytest.approx([0.6, 0.8])
    assert query(np.zeros((0, 2), np.float32)).tolist() == [0, 0]


def two_interests() -> tuple[np.ndarray, np.ndarray]:
    """Items 0 … 9 point one way, 10 … 19 another; the user turns from the first to the second."""
    features = np.zeros((20, 2), np.float32)
    features[:10, 0] = features[10:, 1] = 1
    return np.arange(20), features


def test_a_query_reads_what_is_like_it_from_the_rows_before_the_position():
    history, features = two_interests()
    rows = np.array([2, 4, 12]), np.array([2, 4, 12]), np.ones(3, np.int64)
    items, valid = read_memory(rows, history, features, 20, MemoryOptions(read=2, mix=0.0))
    assert items[0] == 12
    assert items[1] in (2, 4)
    assert valid.all()


def test_a_memory_holds_only_what_came_before():
    history, features = two_interests()
    memory, usual, bounds = (
        HistoryMemory(history, features, MemoryOptions(read=3)),
        np.zeros(20, np.float32),
        [1, 5, 20],
    )
    reads, kept = memory.read_before(usual, bounds), memory.rows_before(usual, bounds)
    for at, (items, valid), rows in zip(bounds, reads, kept, strict=True):
        assert len(rows[0])
        assert rows[0].max() < at
        assert set(items[valid]) <= set(history[:at])
        assert memory.features_of(rows).tolist() == features[history[rows[0]]].tolist()


def test_what_surprises_is_written():
    history, features = two_interests()
    memory = HistoryMemory(history, features, MemoryOptions())
    assert 0 < memory.write_rate(np.zeros(20, np.float32)) < 1
    assert memory.write_rate(np.full(20, 9, np.float32)) == 1
