from __future__ import annotations

import numpy as np
import torch

from equipoise.evaluate.popularity import count_items, score_items, spanned

ITEMS, BOUNDS, TRAIN_END = np.array([0, 2, 2, 1, 3, 0, 1]), np.array([0, 4, 7]), np.array([3, 1])


def test_counts_are_of_training_alone():
    assert count_items(ITEMS, BOUNDS, TRAIN_END, 5).tolist() == [1, 0, 2, 1, 0]
    assert count_items(ITEMS, BOUNDS, np.array([0, 0]), 5).tolist() == [0] * 5


def test_the_sum_over_clients_is_the_whole():
    first = count_items(ITEMS[:4], np.array([0, 4]), np.array([3]), 5)
    second = count_items(ITEMS[4:], np.array([0, 3]), np.array([1]), 5)
    assert (first + second == count_items(ITEMS, BOUNDS, TRAIN_END, 5)).all()


def test_everybody_gets_the_same_scores():
    scores = score_items(np.array([1, 0, 2]), 3)
    assert scores.dtype == torch.float32
    assert scores.tolist() == [[1, 0, 2]] * 3


def test_spans_may_be_empty_and_leave_gaps():
    users, at = spanned(np.array([0, 4, 4, 9, 9]), np.array([2, 0, 2, -1, 1]))
    assert users.tolist() == [0, 0, 2, 2, 4]
    assert at.tolist() == [0, 1, 4, 5, 9]
