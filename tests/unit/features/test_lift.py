from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from equipoise.features import lift as room
from equipoise.features.lift import effective_rank, lifts, met_items, pair_cosines
from tests.unit.data.histories import of_histories


def unit(rows) -> np.ndarray:
    rows = np.array(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def brute_force(histories, rows):
    """Every pair counted one by one; each user, and each pair of users, counts the same."""
    cosine = rows @ rows.T
    same = [np.mean([cosine[a, b] for a, b in combinations(set(history), 2)]) for history in histories]
    cross, weight = 0.0, 0.0
    for one, other in combinations([sorted(set(history)) for history in histories], 2):
        for a, b in product(one, other):
            if a != b:
                cross += cosine[a, b] / (len(one) * len(other))
                weight += 1 / (len(one) * len(other))
    return np.mean(same), cross / weight


def test_pairs_by_hand():
    """East, east and north: user 0 met both easts (cosine 1), user 1 an east and north (0); across 1, 0 and 0."""
    data = of_histories([0, 1, 0], [1, 2, 2])
    rows = unit([[1, 0], [2, 0], [0, 3]])
    same, two = pair_cosines(met_items(np.ones(3, bool), data)[0], rows)
    assert same == pytest.approx((1 + 0) / 2)
    assert two == pytest.approx((1 + 0 + 0) / 3)


def test_pairs_equal_their_brute_force_twin(rng):
    histories = [rng.integers(0, 30, rng.integers(3, 12)) for _ in range(8)]
    data = of_histories(*histories)
    rows = unit(rng.standard_normal((data.n_items, 5)))
    met, touched = met_items(np.ones(data.n_items, bool), data)
    own = [data.history(user).tolist() for user in range(8)]
    assert pair_cosines(met, rows[touched]) == pytest.approx(brute_force(own, rows), abs=1e-6)


def test_items_without_a_row_are_in_no_pair():
    data = of_histories([0, 1, 2], [1, 2, 3], [0, 1, 0])
    met, touched = met_items(np.array([True, False, True, True]), data)
    assert touched.tolist() == [0, 1, 2]
    assert met.tolist() == [[0.5, 0.5, 0], [0, 0.5, 0.5]]


def test_many_users_are_drawn_from(monkeypatch, rng):
    monkeypatch.setattr(room, "MOST_USERS", 3)
    data = of_histories(*[rng.permutation(9)[:4] for _ in range(20)])
    assert len(met_items(np.ones(9, bool), data)[0]) == 3


def test_lift_is_found_vanishes_and_comes_back(rng):
    """Two kinds of items and users of one kind each."""
    kind = rng.permutation(np.arange(200) % 2)
    rows = unit(np.eye(2)[kind] + 0.1 * rng.standard_normal((200, 2)))
    data = of_histories(*[rng.choice(np.flatnonzero(kind == user % 2), 20, replace=False) for user in range(40)])
    rows, usable = rows[data.item_ids], np.ones(data.n_items, bool)
    found = lifts(rows, usable, data)
    assert found["same_user"] - found["two_users"] > 0.4
    assert abs(found["shuffled"]) < 4 * found["spread"] < 0.1
    wrong = lifts(rows[rng.permutation(len(rows))], usable, data)
    assert abs(wrong["same_user"] - wrong["two_users"]) < 6 * wrong["spread"]


def test_rows_one_place_off_have_more_lift_when_moved_back(rng):
    slow = np.cumsum(rng.standard_normal((300, 4)), axis=0)
    rows = unit(slow - slow.mean(axis=0))
    data = of_histories(*[np.argsort(-rows @ unit(rng.standard_normal((1, 4)))[0])[:15] for _ in range(60)])
    rows, usable = rows[data.item_ids], np.ones(data.n_items, bool)
    right, off = (lifts(np.roll(rows, by, axis=0), usable, data) for by in (0, 1))
    assert right["moved"] < right["same_user"] - right["two_users"]
    assert off["moved"] == pytest.approx(right["same_user"] - right["two_users"], abs=1e-6)


def test_no_two_users_no_lift():
    found = lifts(unit([[1, 0], [0, 1], [1, 1]]), np.ones(3, bool), of_histories([0, 1, 2]))
    assert all(np.isnan(value) for value in found.values())


def test_effective_rank_by_hand(monkeypatch):
    assert effective_rank(np.eye(5, dtype=np.float32)) == pytest.approx(5)
    assert effective_rank(np.ones((5, 3), np.float32)) == pytest.approx(1, abs=1e-6)
    three_to_one = np.diag([3.0, 1.0]).astype(np.float32)
    assert effective_rank(three_to_one) == pytest.approx(4 / 3**0.75)
    assert effective_rank(np.repeat(np.eye(4, dtype=np.float32), 9, axis=0)) == pytest.approx(4)
    assert effective_rank(np.empty((0, 4), np.float32)) == 0
    monkeypatch.setattr(room, "MOST_ROWS", 3)
    assert effective_rank(np.eye(5, dtype=np.float32)) == pytest.approx(3)
