from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.evaluate import markov
from equipoise.evaluate.markov import LAST, UNIT, count_transitions, score_next


def counted(*histories, n_items: int):
    bounds = np.cumsum([0, *map(len, histories)])
    return count_transitions(np.concatenate(histories).astype(np.int64), bounds, np.diff(bounds), n_items)


def test_transitions_by_hand():
    n = counted([0, 1, 0, 2], n_items=3).toarray() / UNIT
    # 0→1 at gap 1; 0→0 at 2; 0→2 at 3 and at 1; 1→0 at 1; 1→2 at 2
    assert n == pytest.approx(np.array([[1 / 2, 1, 1 / 3 + 1], [1, 0, 1 / 2], [0, 0, 0]]))


def test_gaps_end_at_five():
    n = counted(range(8), n_items=8).toarray() / UNIT
    assert n[0] == pytest.approx(np.array([0, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0, 0]))


def test_nothing_follows_from_one_user_to_the_next_and_nothing_from_behind_the_end():
    items, bounds = np.array([0, 1, 2, 3, 4]), np.array([0, 3, 5])
    n = count_transitions(items, bounds, np.array([2, 2]), 5)
    assert np.argwhere(n.toarray()).tolist() == [[0, 1], [3, 4]]


def test_a_history_too_short_for_any_transition():
    assert counted([0], [], [2], n_items=3).nnz == 0


def test_the_sum_over_clients_is_the_whole_to_the_last_bit(rng):
    histories = [rng.integers(0, 20, size) for size in (1, 4, 30, 50, 3)]
    whole = counted(*histories, n_items=20)
    parts = [counted(one, n_items=20) for one in histories]
    items, bounds = np.concatenate(histories), np.cumsum([0, *map(len, histories)])
    for order in (parts, parts[::-1]):
        summed = sum(order[1:], start=order[0])
        assert (summed != whole).nnz == 0
        theirs, ours = (score_next(counts, items, bounds[:-1], np.diff(bounds)) for counts in (summed, whole))
        assert torch.equal(theirs, ours)


def test_scores_by_hand():
    counts = counted([0, 1, 0, 2], n_items=3)
    scores = score_next(counts, np.array([1, 0, 2, 2]), np.array([0, 3]), np.array([2, 1]))
    # after (1, 0): the row of 0 in full and half the row of 1; after (2): nothing is known
    expected = [(1 / 2) ** 0.5 + 1 / 2, 1, (4 / 3) ** 0.5 + (1 / 2) ** 0.5 / 2]
    assert scores.dtype == torch.float32
    assert scores[0].tolist() == pytest.approx(expected)
    assert scores[1].tolist() == [0, 0, 0]


def test_plain_counts_instead_of_their_root():
    counts = counted([0, 1, 0, 2], n_items=3)
    scores = score_next(counts, np.array([1, 0]), np.array([0]), np.array([2]), power=1.0)
    assert scores[0].tolist() == pytest.approx([1 / 2 + 1 / 2, 1, 4 / 3 + 1 / 2 / 2])


def test_the_last_ten_items_and_no_others():
    n_items = LAST + 2
    counts = counted(*([item, n_items - 1] for item in range(n_items - 1)), n_items=n_items)
    history = np.arange(LAST + 1)
    scores = score_next(counts, history, np.array([0]), np.array([LAST + 1]))
    assert scores[0, -1].item() == pytest.approx(sum(1 / p for p in range(1, LAST + 1)))
    assert scores[0, :-1].tolist() == [0] * (LAST + 1)


def test_an_item_met_twice_is_followed_twice():
    counts = counted([0, 1], n_items=2)
    scores = score_next(counts, np.array([0, 0]), np.array([0]), np.array([2]))
    assert scores[0, 1].item() == pytest.approx(1 + 1 / 2)


def test_an_empty_history_scores_nothing_and_neither_does_a_user_without_a_target():
    scores = score_next(counted([0, 1], n_items=2), np.array([0, 0]), np.array([0, 0, 1]), np.array([0, 1, -1]))
    assert scores.tolist() == [[0, 0], [0, 1], [0, 0]]


def test_one_history_at_several_places_and_more_rows_than_are_scored_at_once(monkeypatch):
    monkeypatch.setattr(markov, "AT_ONCE", 2)
    counts = counted([0, 1, 2, 0], n_items=3)
    history = np.array([2, 0, 1, 2])  # of the second user; the first has one item
    scores = score_next(counts, history, np.array([1, 1, 1]), np.array([1, 2, 3]))
    alone = [score_next(counts, history[1:], np.array([0]), np.array([n]))[0] for n in (1, 2, 3)]
    assert torch.equal(scores, torch.stack(alone))
