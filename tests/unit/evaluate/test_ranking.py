from __future__ import annotations

from math import log2

import numpy as np
import pytest
import torch

from equipoise.core.errors import DataError, NonFinite
from equipoise.evaluate.rank_metrics import per_user
from equipoise.evaluate.ranking import chance, met, metrics, mid_ranks, n_ranked, uni100

NOBODY = np.zeros((1, 5), dtype=bool)


def scores(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows)


def at(*targets: int) -> np.ndarray:
    return np.array(targets)


def test_rank_is_one_more_than_those_above():
    given = scores([0.1, 0.9, 0.3, 0.2, 0.8])
    assert [mid_ranks(given, at(item), NOBODY)[0] for item in range(5)] == [5, 1, 3, 4, 2]


def test_a_tie_takes_the_middle_of_its_places():
    given = scores([3.0, 1.0, 2.0, 2.0, 2.0])
    # item 0 is above; of the places 2, 3 and 4 the middle is 1 + 1 + ½·2
    assert mid_ranks(given, at(2), NOBODY)[0] == 1 + 1 + 2 / 2
    assert mid_ranks(given, at(1), NOBODY)[0] == 5


def test_constant_scores_give_the_middle_rank():
    ranks = mid_ranks(torch.ones(3, 5), at(0, 2, 4), np.zeros((3, 5), dtype=bool))
    assert ranks.tolist() == [(1 + 5) / 2] * 3
    assert uni100(torch.ones(3, 200), at(0, 1, 2), np.tile(np.arange(100, 200), (3, 1))).tolist() == [(1 + 101) / 2] * 3


def test_what_was_met_is_not_ranked_but_a_target_always_is():
    given = scores([0.5, 0.4, 0.3, 0.2, 0.1])
    excluded = np.array([[True, False, True, True, False]])
    assert mid_ranks(given, at(4), excluded)[0] == 2  # behind item 1 alone
    assert mid_ranks(given, at(3), excluded)[0] == 2  # met before, and again
    assert n_ranked(at(4), excluded).tolist() == [2]
    assert n_ranked(at(3), excluded).tolist() == [3]


def test_users_are_ranked_apart():
    given = scores([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    excluded = np.array([[False, False, True], [False, True, False]])
    assert mid_ranks(given, at(0, 2), excluded).tolist() == [2, 2]


def test_among_those_drawn():
    given = scores([0.5, 0.9, 0.5, 0.1, 0.7])
    assert uni100(given, at(0), np.array([[2, 3, 4]])).tolist() == [1 + 1 + 1 / 2]
    assert uni100(given, at(1), np.array([[0, 3, 4]])).tolist() == [1]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_never_ranked(bad):
    given = torch.zeros(3, 4)
    given[1, 2] = bad
    for ask in (
        lambda: mid_ranks(given, at(0, 0, 0), np.ones((3, 4), dtype=bool)),
        lambda: uni100(given, at(0, 0, 0), np.full((3, 1), 1)),
    ):
        with pytest.raises(NonFinite, match=f"item 2 has the score {bad}; 1 of 3 users") as error:
            ask()
        assert error.value.where == "ranking, user 1"


def test_a_missing_target_is_not_the_last_item():
    with pytest.raises(AssertionError):
        mid_ranks(torch.zeros(1, 5), at(-1), NOBODY)


def test_what_each_user_has_met():
    items, bounds = np.array([2, 0, 1, 1, 3]), np.array([0, 3, 5])
    assert met(items, bounds, np.array([2, 2]), 4).tolist() == [[True, False, True, False], [False, True, False, True]]
    assert not met(items, bounds, np.array([0, -1]), 4).any()  # −1: a user without a target


def test_metrics_by_hand():
    found = metrics(np.array([1.0, 5.0, 10.0, 10.5]), "full")
    assert found["hr@5/full"] == 2 / 4
    assert found["hr@10/full"] == 3 / 4  # 10.5 is not within 10
    assert found["hr@20/full"] == 4 / 4
    assert found["ndcg@5/full"] == pytest.approx((1 + 1 / log2(6)) / 4)
    assert found["ndcg@10/full"] == pytest.approx((1 + 1 / log2(6) + 1 / log2(11)) / 4)
    assert found["ndcg@20/full"] == pytest.approx((1 + 1 / log2(6) + 1 / log2(11) + 1 / log2(11.5)) / 4)
    assert found["mrr/full"] == pytest.approx((1 + 1 / 5 + 1 / 10 + 1 / 10.5) / 4)
    assert len(found) == 7


def test_metrics_are_means_of_what_users_add():
    ranks = np.array([1.0, 3.5, 12.0, 400.0])
    apart = per_user(ranks, "uni100")
    assert metrics(ranks, "uni100") == {name: values.mean() for name, values in apart.items()}
    assert apart["hr@5/uni100"].tolist() == [1, 1, 0, 0]


def test_nobody_to_rank_for():
    with pytest.raises(DataError):
        metrics(np.array([]), "full")
    with pytest.raises(DataError):
        chance(np.array([], dtype=np.int64), "full")


def test_chance_by_hand():
    found = chance(np.array([3, 7]), "full")
    assert found["hr@5/full"] == pytest.approx((3 / 3 + 5 / 7) / 2)
    assert found["hr@10/full"] == 1
    of_three = 1 + 1 / log2(3) + 1 / log2(4)
    of_five = of_three + 1 / log2(5) + 1 / log2(6)
    assert found["ndcg@5/full"] == pytest.approx((of_three / 3 + of_five / 7) / 2)
    assert found["mrr/full"] == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + sum(1 / r for r in range(1, 8)) / 7) / 2)


def test_chance_among_a_hundred():
    found = chance(np.full(1000, 101), "uni100")
    published = {"hr@5": 0.0495, "hr@10": 0.0990, "hr@20": 0.1980, "ndcg@10": 0.0450, "mrr": 0.0515}
    assert {name: round(found[f"{name}/uni100"], 4) for name in published} == published


def test_random_scores_come_to_chance(rng):
    n_users, n_items = 4000, 60
    given = torch.from_numpy(rng.random((n_users, n_items), dtype=np.float32))
    targets = rng.integers(0, n_items, n_users)
    excluded = rng.random((n_users, n_items)) < rng.random((n_users, 1)) * 0.8
    apart = per_user(mid_ranks(given, targets, excluded), "full")
    for name, expected in chance(n_ranked(targets, excluded), "full").items():
        standard_error = apart[name].std() / n_users**0.5
        assert abs(apart[name].mean() - expected) < 3 * standard_error, name


def test_the_same_scores_twice_give_the_same_ranks(rng):
    given = torch.from_numpy(rng.standard_normal((50, 80), dtype=np.float32))
    targets, drawn = rng.integers(0, 40, 50), np.tile(np.arange(40, 80), (50, 1))
    excluded = rng.random((50, 80)) < 0.3
    before = given.clone(), excluded.copy()
    assert mid_ranks(given, targets, excluded).tolist() == mid_ranks(given, targets, excluded).tolist()
    assert uni100(given, targets, drawn).tolist() == uni100(given, targets, drawn).tolist()
    assert torch.equal(given, before[0])
    assert (excluded == before[1]).all()
