from __future__ import annotations

import pytest

from tests.unit.balance.settle import policy_of, settled


@pytest.mark.parametrize(("base", "align"), [(2.0, 0.25), (0.5, 1.5), (3.0, 0.05)])
def test_it_settles_at_the_ratio_and_cuts_the_learning_rate(base, align):
    at = settled(policy_of("uncertainty"), base, align)
    assert at.lam == pytest.approx(base / align, rel=0.01)
    assert at.scale == pytest.approx(1 / (2 * base), rel=0.01)  # σ²_b = L_b
    assert at.used == at.lam


def test_the_network_sees_one_loss():
    at = settled(policy_of("uncertainty"), 2.0, 0.5)
    assert at.network.item() == pytest.approx(2 / (2 * 2) + 0.5 / (2 * 0.5), rel=0.01)


@pytest.mark.parametrize("p", [0.0, 0.9])
def test_time_plays_no_part(p):
    assert settled(policy_of("uncertainty"), 2.0, 0.5, p).used == pytest.approx(4, rel=0.01)
