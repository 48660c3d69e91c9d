"""Ranks and their tests, worked out by hand, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from equipoise.report.ranks import Ranking, critical_difference, friedman, holm, pairwise, ranking

# Ranks by block: a 1, 1, 1½, 1, 2, 1; b 2, 3, 1½, 2, 1, 2½; c 3, 2, 3, 3, 3, 2½.
TABLE = {
    "c": [0.70, 0.65, 0.60, 0.50, 0.40, 0.55],
    "a": [0.90, 0.80, 0.75, 0.70, 0.60, 0.85],
    "b": [0.80, 0.60, 0.75, 0.65, 0.65, 0.55],
}


def test_equal_values_share_the_mean_of_their_ranks_and_the_best_method_is_first() -> None:
    found = ranking(TABLE)
    assert list(found.ranks) == ["a", "b", "c"]
    assert list(found.ranks.values()) == pytest.approx([7.5 / 6, 12 / 6, 16.5 / 6])
    assert found.n_blocks == 6


def test_the_critical_difference_is_that_of_the_published_example() -> None:
    """Four classifiers on 14 data sets: 2.569·√(4·5/(6·14)) = 1.25 (Demšar 2006, §3.2.2)."""
    assert critical_difference(4, 14) == pytest.approx(2.569 * (4 * 5 / (6 * 14)) ** 0.5, abs=1e-3)
    assert ranking(TABLE).critical == pytest.approx(2.343 * (3 * 4 / (6 * 6)) ** 0.5, abs=1e-3)


def test_friedmans_statistic_is_that_of_scipy_with_ties() -> None:
    found = ranking(TABLE)
    theirs = friedmanchisquare(*TABLE.values())
    assert (found.chi2, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_friedmans_statistic_by_hand() -> None:
    """Three methods in the same order in all of four blocks: rank sums 4, 8, 12, so 2·(16 + 0 + 16)/(56 − 48) = 8."""
    chi2, p = friedman(np.tile([1.0, 2.0, 3.0], (4, 1)))
    assert chi2 == pytest.approx(8.0)
    assert p == pytest.approx(np.exp(-4.0))  # the χ² distribution with two degrees of freedom: exp(−x/2)


def test_methods_that_are_equal_everywhere_do_not_differ() -> None:
    found = ranking({name: [0.5] * 6 for name in "abc"})
    assert (found.chi2, found.p) == (0.0, 1.0)
    assert set(found.pairs.values()) == {1.0}
    assert found.groups == [["a", "b", "c"]]


def test_the_p_value_of_six_wins_out_of_six_is_two_in_64() -> None:
    values = {"a": [0.6, 0.61, 0.63, 0.66, 0.7, 0.75], "b": [0.5] * 6}
    assert pairwise(values, ["a", "b"]) == {("a", "b"): pytest.approx(2 / 64)}


def test_holm_multiplies_the_smallest_by_all_and_never_decreases() -> None:
    assert holm([0.02, 0.01, 0.5]) == pytest.approx([2 * 0.02, 3 * 0.01, 0.5])
    assert holm([0.01, 0.012, 0.9]) == pytest.approx([0.03, 0.03, 0.9])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def made(ranks: dict[str, float], p: float = 0.001, critical: float = 1.0) -> Ranking:
    return Ranking(ranks, 10, 20.0, p, critical, {})


def test_groups_are_the_largest_within_the_critical_difference() -> None:
    chain = made({"a": 1.0, "b": 1.8, "c": 2.6, "d": 4.6})
    assert chain.groups == [["a", "b"], ["b", "c"]]
    assert chain.is_apart("a", "c")
    assert not chain.is_apart("a", "b")
    assert made({"a": 1.0, "b": 1.5, "c": 2.0}).groups == [["a", "b", "c"]]
    assert made({"a": 1.0, "b": 3.0}).groups == []


def test_nothing_is_apart_where_friedmans_test_finds_no_difference() -> None:
    unclear = made({"a": 1.0, "b": 5.0}, p=0.06)
    assert not unclear.is_apart("a", "b")
    assert unclear.groups == [["a", "b"]]


def test_the_critical_difference_shrinks_with_the_root_of_the_blocks() -> None:
    assert critical_difference(5, 40) == pytest.approx(critical_difference(5, 10) / 2)
