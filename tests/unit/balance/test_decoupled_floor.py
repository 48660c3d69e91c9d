from __future__ import annotations

import pytest

from equipoise.balance.policy import Cap
from tests.unit.balance.settle import policy_of, settled


@pytest.mark.parametrize(("align", "gamma"), [(0.4, 1e-3), (0.4, 0.1), (1e-9, 0.1), (1e-9, 0.01)])
def test_it_settles_at_the_ratio_with_a_floor(align, gamma):
    at = settled(policy_of("decoupled-floor", gamma=gamma), 2.0, align, p=0.5)
    assert at.lam == pytest.approx(2 / (align + 2 * gamma), rel=0.01)
    assert at.used == pytest.approx(0.5 * at.lam)


def test_the_bound_where_alignment_is_perfect():
    assert settled(policy_of("decoupled-floor", gamma=0.01), 2.0, 0.0).lam == pytest.approx(2 / 0.02, rel=0.01)


def test_the_cap_is_printed_with_its_numbers():
    cap = policy_of("decoupled-floor").cap
    assert cap is not None
    assert cap(4.0, 0.5) == Cap("λ ≤ L_b/2γ = 4/0.002 = 2000", 4 / (2 * 1e-3))
