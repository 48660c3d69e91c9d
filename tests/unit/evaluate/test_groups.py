from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.data.interactions import Features, Interactions
from equipoise.evaluate.groups import drifted, drifted_users, grouped, groups, interest_moves, popular


def interactions(*lists, n_items: int) -> Interactions:
    bounds = np.cumsum([0, *map(len, lists)])
    return Interactions("toy", np.concatenate(lists), bounds, None, np.arange(len(lists)), np.arange(n_items))


def features(rows, present=None) -> Features:
    rows = np.asarray(rows, dtype=np.float32)
    return Features("toy", rows, np.ones(len(rows), dtype=bool) if present is None else np.array(present))


def test_masks_by_hand():
    lengths, targets, counts = np.array([3, 9, 5, 5]), np.array([0, 1, 4, 1]), np.array([2, 9, 0, 1, 9])
    masks = groups(lengths, targets, counts)
    assert masks["long"].tolist() == [False, True, False, False]  # the median is 5
    assert masks["short"].tolist() == [True, False, True, True]
    assert masks["head"].tolist() == [False, True, False, True]  # one item of five: 1, which comes before 4
    assert masks["tail"].tolist() == [True, False, True, False]
    assert list(masks) == ["long", "short", "head", "tail"]


def test_drift_is_a_pair_of_groups_where_it_is_known():
    known = np.array([True, False])
    masks = groups(np.array([1, 2]), np.array([0, 0]), np.array([1]), known)
    assert masks["drifted"].tolist() == [True, False]
    assert masks["steady"].tolist() == [False, True]


@pytest.mark.parametrize(("n_items", "n_head"), [(1, 1), (5, 1), (6, 2), (15, 3), (3415, 683)])
def test_a_fifth_of_the_items_is_popular(n_items, n_head, rng):
    counts = rng.integers(0, 4, n_items)
    is_head = popular(counts)
    assert is_head.sum() == n_head
    assert counts[is_head].min() >= counts[~is_head].max(initial=0)


def test_metrics_of_a_group_carry_its_name():
    masks = {"long": np.array([True, False, True]), "short": np.array([False, True, False]), "none": np.zeros(3, bool)}
    found = grouped(np.array([1.0, 15.0, 7.0]), "full", masks)
    assert found["hr@10/full/long"] == 2 / 2
    assert found["hr@10/full/short"] == 0
    assert found["mrr/full/long"] == pytest.approx((1 + 1 / 7) / 2)
    assert len(found) == 2 * 7  # nothing is said of nobody


def test_a_move_by_hand():
    # halves (0, 2) and (4, 10): means 1 and 7, variances 2 and 18; 6² − 2/2 − 18/2
    data = interactions([0, 1, 2, 3], n_items=4)
    moves = interest_moves(features([[0.0], [2.0], [4.0], [10.0]]), data, np.array([4]))
    assert moves.tolist() == [36 - 1 - 9]


def test_an_odd_item_belongs_to_the_later_half_and_the_end_is_left_out():
    data = interactions([0, 1, 2, 3, 3, 0, 0], n_items=4)
    moves = interest_moves(features([[0.0], [2.0], [4.0], [10.0]]), data, np.array([5]))
    # halves (0, 2) and (4, 10, 10): means 1 and 8, variances 2 and 12
    assert moves[0] == pytest.approx(49 - 2 / 2 - 12 / 3)


def test_items_without_features_are_left_out():
    data = interactions([0, 4, 1, 2, 3, 4], [0, 4, 4, 1, 2, 3], n_items=5)
    given = features([[0.0], [2.0], [4.0], [10.0], [0.0]], [True, True, True, True, False])
    assert interest_moves(given, data, data.lengths).tolist() == [36 - 1 - 9, 0]  # the second: one item is no half


def test_short_histories_do_not_count_as_drifted(rng):
    """Means of few items differ more by chance: without the correction nearly all of the drifted would be short."""
    rows = rng.standard_normal((500, 8))
    lengths = np.repeat([6, 200], 500)
    data = interactions(*(rng.integers(0, 500, n) for n in lengths), n_items=500)
    moves = interest_moves(features(rows), data, data.lengths)
    assert abs(moves.mean()) < 3 * moves.std() / 1000**0.5
    assert abs(moves[lengths == 200].mean()) < 3 * moves[lengths == 200].std() / 500**0.5


def test_planted_changes_are_found(rng):
    rows = rng.standard_normal((100, 4))
    rows[50:] += 3
    changes = np.arange(80) < 20
    lists = [np.append(rng.integers(0, 50, 20), rng.integers(0, 50, 20) + 50 * change) for change in changes]
    data = interactions(*lists, n_items=100)
    found = drifted_users(interest_moves(features(rows), data, data.lengths))
    assert (found == changes).all()


def test_who_drifted_by_the_generators_word_else_by_features_else_nobody_knows(rng):
    rows = rng.standard_normal((20, 3))
    data = interactions(*rng.integers(0, 20, (2, 20)), n_items=20)
    table = {"text": features(rows)}
    assert drifted(replace(data, changes=np.array([-1, 5])), table, data.lengths).tolist() == [False, True]
    by_features = drifted_users(interest_moves(features(rows), data, data.lengths))
    assert drifted(data, table, data.lengths).tolist() == by_features.tolist()
    assert drifted(data, {}, data.lengths) is None
