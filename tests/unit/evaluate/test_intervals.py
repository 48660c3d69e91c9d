from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.evaluate import intervals
from equipoise.evaluate.intervals import Interval, bootstrap, paired


def test_the_interval_of_a_share(rng):
    hits = (rng.random(1000) < 0.2).astype(np.float64)
    found = bootstrap(hits, 0)
    half = 1.96 * hits.std() / 1000**0.5
    assert found.mean == hits.mean()
    assert found.low == pytest.approx(found.mean - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.15 * half)


def test_it_holds_the_true_mean_as_often_as_it_says(rng):
    drawn = [bootstrap(rng.standard_normal(60), seed, 300) for seed in range(400)]
    covered = np.mean([one.low <= 0 <= one.high for one in drawn])
    assert 0.95 - 0.05 < covered < 0.95 + 0.04


def test_a_constant_is_certain():
    assert bootstrap(np.full(7, 0.25), 0) == Interval(0.25, 0.25, 0.25)


def test_the_same_seed_gives_the_same_interval(rng):
    values = rng.random(50)
    assert bootstrap(values, 1) == bootstrap(values, 1) != bootstrap(values, 2)


def test_what_fits_into_memory_does_not_matter(rng, monkeypatch):
    values = rng.random(50)
    whole = bootstrap(values, 1)
    monkeypatch.setattr(intervals, "AT_ONCE", 10)  # less than one resample: they are drawn one by one
    apart = bootstrap(values, 1)
    assert (apart.mean, apart.low, apart.high) == pytest.approx((whole.mean, whole.low, whole.high), rel=1e-12)


def test_a_pair_is_compared_user_by_user(rng):
    hard = rng.standard_normal(500) * 10
    first, second = hard + 0.1, hard
    found = paired(first, second, 0)
    assert found.mean == pytest.approx(0.1)
    assert found.excludes_zero
    assert found.high - found.low < 1e-9  # what makes a user hard cancels


def test_the_other_way_round_is_the_mirror_image(rng):
    first, second = rng.random(100), rng.random(100)
    there, back = paired(first, second, 5), paired(second, first, 5)
    assert (back.mean, back.low, back.high) == pytest.approx((-there.mean, -there.high, -there.low))


@pytest.mark.parametrize(("low", "high", "answer"), [(0.1, 0.2, True), (-0.2, -0.1, True), (-0.1, 0.1, False)])
def test_does_it_exclude_zero(low, high, answer):
    assert Interval(0.0, low, high).excludes_zero is answer


def test_nobody_and_others():
    with pytest.raises(DataError):
        bootstrap(np.array([]), 0)
    with pytest.raises(DataError, match="3 users and the other 4"):
        paired(np.ones(3), np.ones(4), 0)
