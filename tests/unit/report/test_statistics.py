from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest

from equipoise.evaluate.intervals import bootstrap
from equipoise.report.statistics import (
    Difference,
    HeadlineCurve,
    UserGains,
    best,
    final,
    mean_std,
    paired,
    paired_users,
)

T3, T2 = 4.302653, 12.706205  # t(.975) with 2 and 1 degrees of freedom


def curve(values, validation) -> HeadlineCurve:
    return HeadlineCurve("a-1", 0, range(len(values)), values, validation)


def test_final_is_the_last_checkpoint():
    assert final(curve([0.5, 0.9, 0.6], [0.1, 0.2, 0.3])) == 0.6


def test_best_is_where_validation_is_highest_not_where_test_is():
    assert best(curve([0.5, 0.9, 0.6], [0.4, 0.3, 0.6])) == 0.6
    assert best(curve([0.5, 0.9, 0.6], [0.7, 0.7, 0.6])) == 0.5  # the first of equals


def test_mean_and_sample_deviation():
    found = mean_std([0.5, 0.7, 0.9])
    assert found.mean == pytest.approx(0.7)
    assert found.std == pytest.approx(sqrt((0.2**2 + 0 + 0.2**2) / 2))
    assert found.n == 3


def test_one_run_has_no_deviation():
    found = mean_std([0.5])
    assert (found.mean, found.n) == (0.5, 1)
    assert isnan(found.std)


def test_paired_difference_of_three_seeds():
    found = paired({0: 0.6, 1: 0.8, 2: 0.7}, {0: 0.5, 1: 0.6, 2: 0.4})
    half = T3 * 0.1 / sqrt(3)  # the differences are 0.1, 0.2, 0.3
    assert found is not None
    assert found.mean == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - half, rel=1e-6)
    assert found.high == pytest.approx(0.2 + half, rel=1e-6)
    assert found.n == 3
    assert not found.is_clear


def test_paired_over_the_seeds_both_have():
    found = paired({0: 1.0, 1: 0.6, 2: 0.8}, {1: 0.5, 2: 0.5, 9: 0.0})
    half = T2 * sqrt(0.02) / sqrt(2)  # 0.1 and 0.3: deviation √(2·0.1²)
    assert found is not None
    assert (found.n, found.mean) == (2, pytest.approx(0.2))
    assert found.high - found.mean == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize("theirs", [{}, {1: 0.5}, {3: 0.5, 4: 0.5}])
def test_no_interval_from_fewer_than_two_pairs(theirs):
    assert paired({0: 1.0, 1: 0.6}, theirs) is None


@pytest.mark.parametrize(
    ("low", "high", "clear"), [(0.1, 0.3, True), (-0.3, -0.1, True), (-0.1, 0.1, False), (0.0, 0.2, False)]
)
def test_a_difference_is_clear_when_its_interval_leaves_out_zero(low, high, clear):
    assert Difference((low + high) / 2, low, high, 3).is_clear is clear


def test_the_same_difference_for_every_seed_is_certain():
    found = paired({0: 0.75, 1: 0.5}, {0: 0.5, 1: 0.25})
    assert found is not None
    assert (found.low, found.mean, found.high) == (0.25, 0.25, 0.25)
    assert found.is_clear


def users(*gains: float, markov: float = 3.0) -> UserGains:
    return UserGains(dict(enumerate(gains)), {user: markov + user for user in range(len(gains))})


def test_users_are_paired_with_themselves_over_the_seeds_both_have():
    ours = {0: users(1, 1, 1, 0), 1: users(1, 0, 1, 0), 7: users(9, 9, 9, 9)}
    theirs = {0: users(0, 1, 1, 0), 1: users(0, 0, 0, 0)}
    found = paired_users(ours, theirs)
    gains = np.array([1, 0, 1 / 2, 0])  # of each user, on average over seeds 0 and 1
    expected = bootstrap(gains, seed=0)
    assert found == Difference(3 / 8, expected.low, expected.high, 2, "users")
    assert not found.is_clear


def test_one_seed_is_enough_where_there_are_users():
    found = paired_users({0: users(1, 1, 1)}, {0: users(0, 0, 0)})
    assert found is not None
    assert (found.mean, found.low, found.high) == (1, 1, 1)


@pytest.mark.parametrize(
    "theirs",
    [
        {},
        {1: users(0, 0)},
        {0: users(0, 0, 0)},
        {0: users(0, 0, markov=4.0)},
        {0: UserGains({0: 0.0, 1: 0.0}, {})},
    ],
    ids=["nobody", "another seed", "other users", "other items", "unknown items"],
)
def test_users_who_were_not_shown_the_same_are_not_paired(theirs):
    assert paired_users({0: users(1, 1)}, theirs) is None
