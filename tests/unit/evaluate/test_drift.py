from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, polygamma
from scipy.stats import t

from equipoise.core.errors import DataError, NonFinite
from equipoise.evaluate.drift import DriftWatch, Recovery, _inverse_trigamma, recovery

U, S = 1000, 10


def test_recovery_by_hand():
    values = [0.0, 0.5, 0.7, 0.6, 0.2, 0.4, 0.56, 0.58, 0.9]
    found = recovery(values, change=4)
    assert found.level == pytest.approx((0.5 + 0.7 + 0.6) / 3)
    assert found.drop == pytest.approx(0.6 - 0.2)
    assert found.rounds == 3  # .56 is below .95·.6 = .57, .58 is not


def test_some_never_recover_and_some_never_fall():
    assert recovery([1.0, 1.0, 1.0, 0.2, 0.3], 3) == Recovery(1.0, 0.8, None)
    assert recovery([1.0, 1.0, 1.0, 0.96, 0.3], 3).rounds == 0
    assert recovery([0.5, 0.5, 0.5, 0.9], 3) == Recovery(0.5, -0.4, 0)


def test_more_of_the_past_and_more_tolerance():
    assert recovery([0.0, 1.0, 0.4, 0.5], 2, before=2, within=0.2) == Recovery(0.5, pytest.approx(0.1), 0)


@pytest.mark.parametrize("change", [0, 2, 4, -1])
def test_a_change_needs_slices_on_both_sides(change):
    with pytest.raises(DataError, match=f"4 slices do not have 3 before and one after a change at slice {change}"):
        recovery([0.1, 0.2, 0.3, 0.4], change)


def test_one_user_by_hand():
    earlier = [0.4, 0.5, 0.6]
    # mean .5, deviation .1, two degrees of freedom
    limit = 0.5 + t.ppf(ndtr(3.0), 2) * (1 + 1 / 3) ** 0.5 * 0.1
    for x, expected in ((limit - 1e-6, False), (limit + 1e-6, True)):
        assert DriftWatch().flags(np.array([[*earlier, x]])).tolist() == [[False, False, False, expected]]


def test_nothing_is_said_before_enough_slices():
    assert not DriftWatch().flags(np.array([[0.1, 0.1, 0.9]])).any()
    assert DriftWatch(at_least=4).flags(np.array([[0.1, 0.1, 0.1, 0.9, 0.1]])).sum() == 0


def test_a_deviation_below_the_floor_is_not_believed():
    steady = np.array([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5 + 0.02]])
    assert not DriftWatch(floor=0.01).flags(steady).any()
    assert DriftWatch(floor=0.001).flags(steady)[0].tolist() == [False] * 5 + [True]


def stationary(rng, spread: float = 0.0, n_users: int = U):
    """Slice means of users who never change, and each user's deviation."""
    sigma = 0.03 * np.exp(spread * rng.standard_normal((n_users, 1)))
    return 0.5 + sigma * rng.standard_normal((n_users, S)), sigma


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n_users", [3, 30, U])
def test_users_who_never_change_are_left_alone(rng, spread, n_users):
    watch = DriftWatch(floor=1e-6)
    alarmed = [watch.flags(stationary(rng, spread, n_users)[0]).any(1) for _ in range(U // n_users)]
    assert np.concatenate(alarmed).mean() < 0.05


def test_three_plain_deviations_would_alarm_one_in_six(rng):
    x, _ = stationary(rng)
    above = [x[:, s] > x[:, :s].mean(1) + 3 * x[:, :s].std(1, ddof=1) for s in range(3, S)]
    assert np.any(above, axis=0).mean() == pytest.approx(0.17, abs=0.04)


@pytest.mark.parametrize("change", [3, 5, 8])
def test_a_step_is_found_within_two_slices(rng, change):
    x, sigma = stationary(rng)
    x[:250, change:] += 6 * sigma[:250]
    flags = DriftWatch().flags(x)
    assert flags[:250, change : change + 2].any(1).mean() > 0.95
    assert flags[250:].any(1).mean() < 0.05


def test_a_lower_threshold_finds_more(rng):
    x, sigma = stationary(rng)
    x[:, 5:] += 3 * sigma
    found = [DriftWatch(threshold).flags(x)[:, 5].mean() for threshold in (2.0, 3.0, 4.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2] + 0.3


def test_only_earlier_slices_count(rng):
    x, _ = stationary(rng, 0.5, 40)
    x[:5, 6:] += 1
    whole = DriftWatch().flags(x)
    for s in range(S):
        assert (DriftWatch().flags(x[:, : s + 1])[:, s] == whole[:, s]).all()


def test_unseen_slices_count_for_nothing():
    seen = np.array([[True, False, True, True, False, True]])
    nan = float("nan")
    gaps = DriftWatch().flags(np.array([[0.4, nan, 0.5, 0.6, nan, 0.9]]), seen)
    dense = DriftWatch().flags(np.array([[0.4, 0.5, 0.6, 0.9]]))
    assert gaps[seen].tolist() == dense[0].tolist()
    assert not gaps[~seen].any()


def test_what_is_not_finite_is_refused():
    with pytest.raises(NonFinite, match=r"the value at \(0, 1\) is nan"):
        DriftWatch().flags(np.array([[0.1, float("nan")]]))
    with pytest.raises(NonFinite, match=r"the value at \(2,\) is inf"):
        recovery([0.1, 0.2, float("inf"), 0.3], 3)


@pytest.mark.parametrize("y", [0.05, 0.5, 1.0, 7.0, 1e4])
def test_the_inverse_of_the_trigamma_function(y):
    assert _inverse_trigamma(float(polygamma(1, y))) == pytest.approx(y, rel=1e-6)
