from __future__ import annotations

import pytest

from equipoise.balance.decoupled_hinge import hinge_cap
from equipoise.balance.policy import Cap
from tests.unit.balance.settle import policy_of, settled


@pytest.mark.parametrize(("p", "s"), [(0.0, 1.0), (0.5, 0.5)])
def test_below_the_hinge_it_settles_at_the_annealed_ratio(p, s):
    at = settled(policy_of("decoupled-hinge"), 2.0, 0.1, p)
    assert at.lam == pytest.approx(s * 2 / 0.1, rel=0.01)
    assert at.used == at.lam
    assert at.seen["lam/trigger_rate"] == 0


@pytest.mark.parametrize(("p", "s"), [(0.0, 1.0), (0.5, 0.5)])
@pytest.mark.parametrize("gamma", [1e-3, 1e-4])
def test_where_alignment_is_perfect_it_stops_at_its_cap(p, s, gamma):
    at = settled(policy_of("decoupled-hinge", gamma=gamma), 2.0, 0.0, p)
    assert at.lam == pytest.approx(hinge_cap(50, gamma, s), rel=0.01)
    assert at.seen["lam/trigger_rate"] == 1


def test_the_cap_by_hand():
    assert hinge_cap(50, 1e-3) == pytest.approx(25 + (625 + 250) ** 0.5)
    assert hinge_cap(50, 1e-5) == pytest.approx(185.08, abs=0.01)


def test_the_cap_is_printed_with_its_numbers():
    cap = policy_of("decoupled-hinge").cap
    assert cap is not None
    by_hand = pytest.approx(25 + (625 + 250) ** 0.5)
    assert cap(4.0, 0.5) == Cap("λ ≤ λmax/2 + √(λmax²/4 + s/4γ) = 54.58 at s = 1", by_hand)
