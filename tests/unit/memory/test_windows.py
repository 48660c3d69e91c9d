"""Windows of a history, for training and for scoring: nothing from the future, padding at the end."""

from __future__ import annotations

import doctest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equipoise.memory import windows as module
from equipoise.memory.windows import History, scoring_window, spans, stack, training_window

ITEMS = np.array([5, 6, 7, 8, 9, 3])
READ = np.array([5, 0]), np.array([True, False])


@given(n=st.integers(2, 40), first=st.integers(1, 10), length=st.integers(1, 9))
def test_windows_cover_every_target_once_counted_from_the_newest(n, first, length):
    found = spans(History(np.arange(n), min(first, n), n), length)
    assert [t for a, b in found for t in range(a, b)] == list(range(min(first, n), n))
    assert all(0 < b - a <= length for a, b in found)
    assert all(b - a == length for a, b in found[1:])


def test_a_window_for_training_pairs_each_item_with_the_next():
    window = training_window(ITEMS, 2, 5, READ)
    assert (window.earlier.tolist(), window.inputs.tolist(), window.targets.tolist()) == ([5], [6, 7, 8], [7, 8, 9])
    recent, valid = window.recent
    assert recent[valid].tolist() == [5, 6]  # before the first target


def test_a_window_for_scoring_ends_just_before_what_it_predicts():
    window = scoring_window(ITEMS, 5, 3, READ)
    assert (window.earlier.tolist(), window.inputs.tolist(), window.targets.tolist()) == ([5, 6], [7, 8, 9], [])
    recent, valid = window.recent
    assert recent[valid].tolist() == [5, 6, 7, 8, 9]
    assert scoring_window(ITEMS, 1, 3, READ).inputs.tolist() == [5]  # a short history


@given(at=st.integers(1, 6), length=st.integers(1, 8))
def test_scoring_sees_what_training_sees_at_its_last_position(at, length):
    scored = scoring_window(ITEMS, at, length, READ)
    trained = training_window(np.append(ITEMS, 0), max(1, at + 1 - length), at + 1, READ)
    assert scored.inputs.tolist() == trained.inputs.tolist()
    assert scored.earlier.tolist() == trained.earlier.tolist()


def test_windows_are_padded_at_the_end_and_filled_up_with_empty_ones():
    found = stack([training_window(ITEMS, 2, 5, READ), training_window(ITEMS, 5, 6, READ)], 4, size=3, n_items=10)
    assert found.items.tolist() == [[6, 7, 8, 0], [9, 0, 0, 0], [0] * 4]
    assert found.targets.tolist() == [[7, 8, 9, 0], [3, 0, 0, 0], [0] * 4]
    assert found.valid.sum(1).tolist() == [3, 1, 0]
    assert found.memory.tolist() == [[5, 0], [5, 0], [0, 0]]
    assert found.memory_valid.tolist() == [[True, False]] * 2 + [[False, False]]
    assert [row.nonzero().flatten().tolist() for row in found.met] == [[5], [5, 6, 7, 8], []]
    assert found.recent.shape == found.recent_valid.shape == (3, 10)


def test_windows_for_scoring_have_no_targets_and_mark_nothing():
    found = stack([scoring_window(ITEMS, at, 4, READ) for at in (2, 6)], 4)
    assert found.items.tolist() == [[5, 6, 0, 0], [7, 8, 9, 3]]
    assert found.targets.shape == (2, 0)
    for blank in (found.met, found.keep, found.rows, found.negatives):
        assert blank.numel() == 0


def test_examples():
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
